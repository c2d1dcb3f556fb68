"""For reading mail: the door to the pure parsers, so that a caller needs one import."""

from postroom.mail.content import assemble
from postroom.mail.head import parse_head
from postroom.mail.header import split
from postroom.mail.parts import describe, leaf_octets, leaves, wanted
from postroom.mail.structure import split_message

__all__ = ["assemble", "describe", "leaf_octets", "leaves", "parse_head", "split", "split_message", "wanted"]
