"""The relay toolset: seven tools for a caller that is assumed to be hijacked, over the same views as all others."""

from postroom.operations.relay import changing, listing, reading, sending

__all__ = ["changing", "listing", "reading", "sending"]
