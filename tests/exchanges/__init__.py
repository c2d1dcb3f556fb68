"""Exchanges with scripted servers through the running product, each over HTTP and over MCP."""
