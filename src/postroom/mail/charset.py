"""For turning octets of a named charset into text, whatever the name and the octets are."""

from __future__ import annotations

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from functools import lru_cache

from postroom.mail.iso2022 import decode_euc_jp, decode_iso_2022

# A foreign label never reaches Python's codec registry: it also holds rot13, idna, zlib and their kind.
# Per row: codecs in the order they are tried, then the labels, of which only letters and digits count.
_ROWS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("utf-8",), "utf8 unicode11utf8 unicode20utf8 xunicode20utf8 utf8mb4 cp65001 utf8sig utf08"),
    (("utf-16",), "utf16 unicode ucs2 iso10646ucs2 csunicode"),
    (("utf-16-le",), "utf16le unicodefffe ucs2le"),
    (("utf-16-be",), "utf16be unicodefeff ucs2be"),
    (("utf-32",), "utf32 ucs4 iso10646ucs4"),
    (("utf-32-le",), "utf32le ucs4le"),
    (("utf-32-be",), "utf32be ucs4be"),
    (("utf-7",), "utf7 unicode11utf7 csunicode11utf7 unicode20utf7 xunicode20utf7 cp65000"),
    (
        ("utf-8", "cp1252"),
        "usascii ascii ansix341968 ansix341986 iso646us us iso646irv1991 isoir6 ibm367 cp367",
    ),
    (("cp1252",), "iso88591 iso885911987 latin1 l1 isoir100 ibm819 cp819 csisolatin1 88591 isolatin1"),
    (("cp1252",), "windows1252 cp1252 xcp1252 win1252 ansi1252 ansi msansi western 1252"),
    (("iso8859-2",), "iso88592 iso885921987 latin2 l2 isoir101 csisolatin2 88592"),
    (("iso8859-3",), "iso88593 iso885931988 latin3 l3 isoir109 csisolatin3"),
    (("iso8859-4",), "iso88594 iso885941988 latin4 l4 isoir110 csisolatin4"),
    (("iso8859-5",), "iso88595 iso885951988 cyrillic isoir144 csisolatincyrillic 88595"),
    (
        ("iso8859-6",),
        "iso88596 iso88596e iso88596i iso885961987 arabic asmo708 ecma114 isoir127 csisolatinarabic",
    ),
    (
        ("iso8859-7",),
        "iso88597 iso885971987 greek greek8 ecma118 elot928 isoir126 csisolatingreek suneugreek",
    ),
    (
        ("iso8859-8",),
        "iso88598 iso88598e iso88598i iso885981988 hebrew logical visual isoir138 csisolatinhebrew",
    ),
    (("cp1254",), "iso88599 iso885991989 latin5 l5 isoir148 csisolatin5 windows1254 cp1254 xcp1254 win1254"),
    (("iso8859-10",), "iso885910 iso8859101992 latin6 l6 isoir157 csisolatin6"),
    (("iso8859-13",), "iso885913 latin7"),
    (("iso8859-14",), "iso885914 iso8859141998 latin8 l8"),
    (("iso8859-15",), "iso885915 iso8859151998 latin9 l9 latin0 csisolatin9 885915"),
    (("iso8859-16",), "iso885916 iso8859162001 latin10 l10"),
    (("cp1250",), "windows1250 cp1250 xcp1250 win1250 1250"),
    (("cp1251",), "windows1251 cp1251 xcp1251 win1251 1251"),
    (("cp1253",), "windows1253 cp1253 xcp1253 win1253"),
    (("cp1255",), "windows1255 cp1255 xcp1255 win1255"),
    (("cp1256",), "windows1256 cp1256 xcp1256 win1256"),
    (("cp1257",), "windows1257 cp1257 xcp1257 win1257"),
    (("cp1258",), "windows1258 cp1258 xcp1258 win1258"),
    (
        ("cp874",),
        "windows874 cp874 xcp874 win874 dos874 iso885911 iso8859112001 tis620 tis6200 tis62025331 ibm874",
    ),
    (("koi8-r",), "koi8r koi8 koi cskoi8r"),
    (("koi8-u",), "koi8u koi8ru"),
    (("koi8-t",), "koi8t"),
    (("ptcp154",), "ptcp154 cp154 cyrillicasian csptcp154"),
    (("kz1048",), "kz1048 strk10482002 rk1048"),
    (("cp866",), "ibm866 cp866 866 csibm866 dos866"),
    (("cp437",), "ibm437 cp437 437 cspc8codepage437 dos437"),
    (("cp737",), "ibm737 cp737"),
    (("cp775",), "ibm775 cp775 cspc775baltic"),
    (("cp850",), "ibm850 cp850 850 cspc850multilingual dos850"),
    (("cp852",), "ibm852 cp852 852 cspcp852 dos852"),
    (("cp855",), "ibm855 cp855 855 csibm855"),
    (("cp857",), "ibm857 cp857 857 csibm857"),
    (("cp858",), "ibm858 cp858 858 ibm00858 ccsid00858 pcmultilingual850euro"),
    (("cp860",), "ibm860 cp860 860 csibm860"),
    (("cp861",), "ibm861 cp861 861 csibm861"),
    (("cp862",), "ibm862 cp862 862 dos862 cspc862latinhebrew"),
    (("cp863",), "ibm863 cp863 863 csibm863"),
    (("cp864",), "ibm864 cp864 864 csibm864"),
    (("cp865",), "ibm865 cp865 865 csibm865"),
    (("cp869",), "ibm869 cp869 869 csibm869"),
    (("mac-roman",), "macintosh mac macroman xmacroman csmacintosh"),
    (("mac-cyrillic",), "xmaccyrillic maccyrillic xmacukrainian macukrainian"),
    (("mac-greek",), "xmacgreek macgreek"),
    (("mac-latin2",), "xmacce macce maccentraleurope maclatin2 xmaccentraleurroman"),
    (("mac-turkish",), "xmacturkish macturkish"),
    (("mac-iceland",), "xmacicelandic maciceland"),
    (("mac-romanian",), "xmacromanian macromanian"),
    (("mac-croatian",), "xmaccroatian maccroatian"),
    (("mac-arabic",), "xmacarabic macarabic"),
    (("mac-farsi",), "xmacfarsi macfarsi"),
    (("hp-roman8",), "hproman8 roman8 r8 cshproman8"),
    (("gb18030",), "gb18030 gb2312 gbk xgbk gb gb231280 csgb2312 csgb231280 csiso58gb231280 isoir58 chinese"),
    (("gb18030",), "xmacchinesesimp"),
    (("gb18030",), "gb23121980 euccn xeuccn cngb cp936 ms936 windows936 936 csgbk gb180302000 gb180302005"),
    (("hz",), "hzgb2312 hz"),
    (("cp950", "big5hkscs"), "big5 xxbig5 cnbig5 big5eten csbig5 cp950 ms950 windows950 950 xbig5 big5tw"),
    (("big5hkscs", "cp950"), "big5hkscs big5hk xbig5hkscs"),
    (("cp932", "shift_jis_2004"), "shiftjis sjis xsjis mskanji csshiftjis cp932 ms932 windows932 windows31j"),
    (("cp932", "shift_jis_2004"), "xmscp932 cswindows31j xshiftjis shiftjisms 932 ibm943 cp943 xmacjapanese"),
    (("shift_jis_2004", "cp932"), "shiftjis2004 shiftjisx0213 sjis2004"),
    (
        ("cp949",),
        "ksc56011987 ksc56011989 ksc5601 kscs5601 euckr cseuckr ksc56011992 korean isoir149 ksx1001",
    ),
    (
        ("cp949",),
        "cp949 ms949 windows949 949 uhc xwindows949 xuhc csksc56011987 ks ksc5636 xeuckr xmackorean",
    ),
    (("johab",), "johab cp1361 ms1361"),
    ((), "iso2022jp csiso2022jp iso2022jp1 iso2022jp3 iso2022jp2004 iso2022jpms cp50220 cp50221 cp50222"),
    (
        (),
        "iso2022jpext xiso2022jp jis jis7 iso2022jp1993 iso2022jp2 csiso2022jp2 iso2022kr csiso2022kr iso2022cn",
    ),
    (
        (),
        "eucjp xeucjp eucjpms eucjpwin cseucpkdfmtjapanese cseucjpkdfmtjapanese cp51932 ujis eucjis2004 eucjpx0213",
    ),
)
_CODECS = {label: codecs for codecs, labels in _ROWS for label in labels.split()}
_ISO_2022 = frozenset(" ".join(labels for codecs, labels in _ROWS[-3:-1]).split())
_EUC_JP = frozenset(_ROWS[-1][1].split())
_SELF_CONTAINED = frozenset(
    label for label, codecs in _CODECS.items() if codecs in (("utf-16",), ("utf-32",), ("utf-7",), ("hz",))
)
_FALLBACK = ("utf-8", "cp1252")
_MARKS = (BOM_UTF8, BOM_UTF16_LE, BOM_UTF16_BE)
_WIDE = frozenset(label for label, codecs in _CODECS.items() if codecs and codecs[0].startswith("utf-32"))
_NOT_LIKE_ASCII = (
    _SELF_CONTAINED | _WIDE | {label for label, codecs in _CODECS.items() if codecs and codecs[0].startswith("utf-16")}
)
_NOT_SO_SHORT = 16
"""Octets from which zero octets are missed in what claims to be UTF-16."""
_JAPANESE_ESCAPE = re.compile(rb"\x1b(?:\$[@B]|\([IJ])")
_NOT_ASCII_RUN = re.compile("[\x80-\ufffc\U00010000-\U0010ffff]+")
_NEVER = re.compile("[\x00\ud800-\udfff]")


def decode(octets: bytes, label: str | None) -> str:
    """Text of octets that claim to be in charset `label` (RFC 2978), in the spirit of the WHATWG encodings.

    `label` None, or one nobody knows, means UTF-8, and windows-1252 when that is not valid. Octets that have no
    meaning become U+FFFD. The text never holds a surrogate or U+0000; nothing is ever raised.
    """
    text = octets.decode("ascii") if label is None and _is_plain(octets) else _decoded(octets, _normal(label))
    return _harmless_text(text)


def decode_unnamed(octets: bytes, assumed: str | None) -> str:
    """Text of octets that say nothing of themselves: UTF-8, else `assumed`, else windows-1252.

    `assumed` is heard only if its text can stand in a header, which UTF-16 and its kind cannot.
    """
    codecs = _CODECS.get(_normal(assumed) or "", _FALLBACK)
    unheard = codecs[:1] == ("utf-8",) or _normal(assumed) in _NOT_LIKE_ASCII
    return decode(octets, None if unheard or _guessed_utf8(octets) is not None else assumed)


def _harmless_text(text: str) -> str:
    if text.startswith("\ufeff"):
        text = text[1:]
    return _NEVER.sub(_harmless, text) if _NEVER.search(text) else text


def _is_plain(octets: bytes) -> bool:
    return octets.isascii() and b"\x1b" not in octets and b"\x00" not in octets


def are_joined(label: str, following: str) -> bool:
    """True for neighbours of one charset whose octets are one text; false where each starts and ends anew."""
    one, other = _normal(label) or "", _normal(following) or ""
    if one in _SELF_CONTAINED:
        return False
    return one == other or _CODECS.get(one, one) == _CODECS.get(other, other) != ()


def is_valid(octets: bytes, label: str) -> bool:
    """True when octets have a meaning in that charset, as far as Python's codec for it can tell."""
    codecs = _CODECS.get(_normal(label) or "", _FALLBACK)
    return not codecs or any(_fits(octets, codec) for codec in codecs)


def is_known(label: str) -> bool:
    """True for a charset that says more than "UTF-8, or whatever it may be" of octets with eight bits."""
    return _CODECS.get(_normal(label) or "", _FALLBACK) != _FALLBACK


def is_plain_superset(label: str) -> bool:
    """True for a known charset in which ASCII text is written as in ASCII."""
    return is_known(label) and _normal(label) not in _NOT_LIKE_ASCII


def _normal(label: str | None) -> str | None:
    return None if label is None else _letters_and_digits(label[:100])


@lru_cache(maxsize=1_000)
def _letters_and_digits(label: str) -> str:
    """A label without the language suffix of RFC 2231 section 5."""
    return "".join(character for character in label.partition("*")[0].lower() if character.isalnum())


def _harmless(match: re.Match[str]) -> str:
    return "" if match[0] == "\x00" else "\ufffd"


def _decoded(octets: bytes, name: str | None) -> str:
    if octets.startswith(_MARKS) and (marked := _as_marked(octets, name)) is not None:
        return marked
    if name in _ISO_2022:
        return _utf8_if_8bit(octets) or decode_iso_2022(octets)
    if name in _EUC_JP:
        return decode_euc_jp(octets)
    codecs = _FALLBACK if name is None else _CODECS.get(name, _FALLBACK)
    if codecs[0].startswith("utf-16"):
        return _utf16(octets, codecs[0])
    if b"\x1b" in octets and octets.isascii() and _JAPANESE_ESCAPE.search(octets):
        return decode_iso_2022(octets)
    return _first_that_fits(octets, codecs)


def _as_marked(octets: bytes, name: str | None) -> str | None:
    """What the byte order mark says, which is stronger than a label (WHATWG Encoding, decode); None for UTF-32."""
    if name in _WIDE:
        return None
    if not octets.startswith(BOM_UTF8):
        return octets.decode("utf-16", "replace")
    return octets.decode("utf-8") if _fits(octets, "utf-8") else None


def _utf8_if_8bit(octets: bytes) -> str | None:
    """ISO 2022 mail has seven bits: an eighth that makes valid UTF-8 is UTF-8."""
    return octets.decode("utf-8") if not octets.isascii() and _fits(octets, "utf-8") else None


def _utf16(octets: bytes, codec: str) -> str:
    """Without a byte order mark the side with more zero octets is the high one; without zeros it is no UTF-16."""
    if b"\x00" not in octets and len(octets) >= _NOT_SO_SHORT and _fits(octets, "utf-8"):
        return octets.decode("utf-8")
    if codec == "utf-16":
        little = octets[1::2].count(0) >= octets[::2].count(0)
        codec = "utf-16-le" if little else "utf-16-be"
    return octets.decode(codec, "replace")


def _fits(octets: bytes, codec: str) -> bool:
    try:
        octets.decode(codec)
    except UnicodeDecodeError:
        return False
    return True


def _first_that_fits(octets: bytes, codecs: tuple[str, ...]) -> str:
    """The first codec without an error, else the first one with replacements; where that is a guess, the likelier."""
    if codecs == _FALLBACK:
        return _guessed_utf8(octets) or octets.decode("cp1252", "replace")
    fitting = next((codec for codec in codecs if _fits(octets, codec)), codecs[0])
    return octets.decode(fitting, "replace")


def _guessed_utf8(octets: bytes) -> str | None:
    """UTF-8, also with a fault or two in it, such as a cut last letter; None for what is rather something else."""
    if _fits(octets, "utf-8"):
        return octets.decode("utf-8")
    text = octets.decode("utf-8", "replace")
    letters = sum(map(len, _NOT_ASCII_RUN.findall(text)))
    return text if letters > 2 * text.count("\ufffd") else None
