"""Skins: the HTTP API and the MCP endpoint, thin enough that a new operation touches none of them."""
