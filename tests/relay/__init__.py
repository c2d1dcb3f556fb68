"""The relay toolset against real servers."""
