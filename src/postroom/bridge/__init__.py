"""A gateway's MCP over stdin and stdout, for clients that only start programs and talk to them by their pipes."""

from postroom.bridge.address import Address, AddressFault, read_address
from postroom.bridge.running import run

__all__ = ["Address", "AddressFault", "read_address", "run"]
