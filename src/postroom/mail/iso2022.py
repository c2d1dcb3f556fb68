"""For East Asian mail of seven bits (ISO 2022), and EUC-JP, with the vendor characters that mail really holds."""

from __future__ import annotations

import re
from functools import cache

# Python's iso2022_* codecs lack NEC row 13, and iso2022_jp_2 can raise RuntimeError on hostile octets.
_SWITCH = re.compile(rb"(\x1b\$\([@BCDOPQ]|\x1b\$[@AB]|\x1b\$\)[AC]|\x1b\([A-Z]|\x1b&@|\x1b\.[AF]|\x0e|\x0f|\n)")
_TWO_OCTET = {
    b"\x1b$@": "208",
    b"\x1b$B": "208",
    b"\x1b$(@": "208",
    b"\x1b$(B": "208",
    b"\x1b$(D": "212",
    b"\x1b$(O": "213",
    b"\x1b$(P": "213-2",
    b"\x1b$(Q": "213",
    b"\x1b$A": "gb",
    b"\x1b$(C": "ks",
}
_SHIFTED = ((b"\x1b$)C", "ks"), (b"\x1b$)A", "gb"))
_CODECS = {"212": "euc_jp", "213": "euc_jis_2004", "213-2": "euc_jis_2004", "gb": "gb18030", "ks": "cp949"}
_PLANE_2 = frozenset(("212", "213-2"))
_PAIR = re.compile(rb"[\x21-\x7e]{2}|[\x00-\xff]")
_EUC = re.compile(rb"\x8f[\xa1-\xfe]{2}|[\xa1-\xfe]{2}|\x8e[\xa1-\xdf]|[\x00-\x7f]+|[\x80-\xff]")


def decode_iso_2022(octets: bytes) -> str:
    """Text of ISO-2022-JP (RFC 1468, RFC 1554) as CP50220 reads it, of ISO-2022-KR (RFC 1557) or -CN (RFC 1922).

    Each line starts in ASCII again; an octet without meaning becomes U+FFFD.
    """
    shifted = next((set_ for designator, set_ in _SHIFTED if designator in octets), "kana")
    pieces: list[str] = []
    mode = "ascii"
    for index, piece in enumerate(_SWITCH.split(octets)):
        if index % 2 == 0:
            pieces.append(_segment(piece, mode))
            continue
        mode = shifted if piece == b"\x0e" else _mode_after(piece)
        if piece == b"\n":
            pieces.append("\n")
    return "".join(pieces)


def decode_euc_jp(octets: bytes) -> str:
    """Text of EUC-JP with the vendor characters of CP51932; an octet without meaning becomes U+FFFD."""
    return "".join(_euc_character(match) for match in _EUC.findall(octets))


def _mode_after(switch: bytes) -> str:
    return "kana" if switch == b"\x1b(I" else _TWO_OCTET.get(switch, "ascii")


def _segment(piece: bytes, mode: str) -> str:
    if not piece:
        return ""
    if mode == "ascii":
        return piece.decode("cp932", "replace")
    if mode == "kana":
        return bytes(octet | 0x80 if 0x21 <= octet <= 0x5F else octet for octet in piece).decode("cp932", "replace")
    return "".join(_pair(pair, mode) for pair in _PAIR.findall(piece))


def _pair(pair: bytes, mode: str) -> str:
    if len(pair) == 1:
        return pair.decode("ascii", "replace") if pair <= b"\x20" else "\ufffd"
    if mode == "208":
        return _jis_x_0208(pair)
    high = bytes(octet | 0x80 for octet in pair)
    return ((b"\x8f" if mode in _PLANE_2 else b"") + high).decode(_CODECS[mode], "replace")


def _euc_character(octets: bytes) -> str:
    if octets[0] < 0x80:
        return octets.decode("ascii")
    if octets[0] == 0x8E and len(octets) == 2:
        return octets[1:].decode("cp932")
    if octets[0] == 0x8F and len(octets) == 3:
        return octets.decode("euc_jp", "replace")
    return _jis_x_0208(bytes(octet & 0x7F for octet in octets)) if len(octets) == 2 else "\ufffd"


@cache
def _jis_x_0208(pair: bytes) -> str:
    """One character by way of Shift_JIS, where the vendor rows have their place (at most 8,836 are kept)."""
    row, cell = pair
    lead = (row + 1) // 2 + 0x70
    lead += 0x40 if lead >= 0xA0 else 0
    trail = cell + 0x7E if row % 2 == 0 else cell + (0x20 if cell >= 0x60 else 0x1F)
    return bytes((lead, trail)).decode("cp932", "replace")[:1]
