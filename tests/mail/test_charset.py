"""Octets of any charset become text that every answer can carry."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.mail.charset import decode, decode_unnamed

JAPANESE = st.text(alphabet="あいうアイウ漢字日本語メール件名abc 123", max_size=40)


@pytest.mark.parametrize(
    ("octets", "label", "text"),
    [
        (b"40 \x80", "iso-8859-1", "40 €"),
        (b"\x93net\x94", "ISO_8859-1:1987", "“net”"),
        (b"a\x81b", "windows-1252", "a\ufffdb"),
        (b"Zo\xc3\xab", "us-ascii", "Zoë"),
        (b"Zo\xeb", "us-ascii", "Zoë"),
        (b"\xe3\xf4\xe3", "windows-874", "ใ๔ใ"),
        (b"\xd6\xec\xe9F", "gb2312", "朱镕"),
        (b"\xb0\xa1\xc6\x52", "ks_c_5601-1987", "가힣"),
        (b"\xd0\xd2", "KOI8-R", "пр"),
        (b"\xa1\xa2", "iso-8859-9", "¡¢"),
        (b"Gr+APYA3w-e", "utf-7", "Größe"),
        (b"\xff\xfea\x00", "utf-16", "a"),
        (b"\x00a\x00b", "utf-16", "ab"),
        (b"a\x00b\x00", "utf-16", "ab"),
        (b"\xef\xbb\xbfBOM", "utf-8", "BOM"),
        (b"\xa4@", "big5", "一"),
        (b"~{<:Ky~}!", "hz-gb-2312", "己所!"),
        (b"\xd0\xd2", "koi8-r*ru", "пр"),
        (b"Gr\xc3\xbc\xc3\x9fe", '"UTF8"', "Grüße"),
    ],
)
def test_a_label_means_what_mail_programs_mean_by_it(octets: bytes, label: str, text: str) -> None:
    assert decode(octets, label) == text


@pytest.mark.parametrize("label", ["rot13", "idna", "punycode", "hex", "base64", "zlib", "undefined", "unicode_escape"])
def test_a_codec_that_is_no_charset_is_never_applied(label: str) -> None:
    assert decode(b"uryyb \\u0041 41 QQ==", label) == "uryyb \\u0041 41 QQ=="


@pytest.mark.parametrize("label", [None, "x-unknown", "", "8bit"])
def test_without_a_known_label_utf_8_is_tried_before_windows_1252(label: str | None) -> None:
    assert decode("40 €".encode(), label) == "40 €"
    assert decode(b"40 \x80", label) == "40 €"


def test_japanese_mail_keeps_circled_digits_and_half_width_kana() -> None:
    assert decode(b"\x1b$B<j=g-!$r8+$F-j;3\x1b(B", "iso-2022-jp") == "手順①を見て㈱山"
    assert decode(b"\x1b(I1\x1b(B!", "iso-2022-jp") == "ｱ!"
    assert decode(b"\xb1", "iso-2022-jp") == "ｱ"
    assert decode(b"\xad\xa1\x8e\xb1", "euc-jp") == "①ｱ"


def test_a_japanese_line_starts_in_ascii_again() -> None:
    assert decode(b"\x1b$B<j\nplain", "iso-2022-jp") == "手\nplain"


def test_eight_bits_declared_as_iso_2022_jp_are_utf_8_if_they_can_be() -> None:
    assert decode("納品は金曜です".encode(), "iso-2022-jp") == "納品は金曜です"


def test_korean_mail_of_seven_bits_is_read() -> None:
    assert decode(b"\x1b$)C\x0e0!\x0f ok", "iso-2022-kr") == "가 ok"


def test_escapes_of_japanese_mail_are_understood_without_a_label() -> None:
    assert decode(b"\x1b$B<j\x1b(B", None) == "手"
    assert decode(b"\x1b$B<j\x1b(B", "us-ascii") == "手"


def test_what_utf_7_smuggles_is_no_surrogate() -> None:
    assert decode(b"a+2AA-b", "utf-7") == "a\ufffdb"


@given(
    st.binary(max_size=200),
    st.one_of(st.none(), st.text(max_size=12), st.sampled_from(["utf-7", "utf-16", "hz"])),
)
def test_nothing_raises_and_the_text_has_no_nul_and_no_surrogate(octets: bytes, label: str | None) -> None:
    text = decode(octets, label)
    text.encode("utf-8")
    assert "\x00" not in text


@given(JAPANESE)
def test_what_python_writes_as_japanese_is_read_back(text: str) -> None:
    assert decode(text.encode("iso2022_jp"), "iso-2022-jp") == text
    assert decode(text.encode("euc_jp"), "euc-jp") == text
    assert decode(text.encode("cp932"), "shift_jis") == text


@given(st.text(st.characters(codec="utf-8", exclude_characters="\x00\ufeff"), max_size=60))
def test_unicode_text_survives_its_own_encodings(text: str) -> None:
    for charset in ("utf-8", "utf-16", "utf-32", "utf-7", "gb18030"):
        assert decode(text.encode(charset), charset) == text


@pytest.mark.parametrize("label", ["iso-8859-1", "utf-8", "us-ascii", None])
def test_a_byte_order_mark_is_stronger_than_a_label(label: str | None) -> None:
    assert decode(codecs.BOM_UTF8 + "Résumé".encode(), label) == "Résumé"
    assert decode("Résumé".encode("utf-16"), label) == "Résumé"
    assert decode(codecs.BOM_UTF16_BE + "Résumé".encode("utf-16-be"), label) == "Résumé"


def test_a_byte_order_mark_before_what_is_no_utf_8_means_nothing() -> None:
    assert decode(codecs.BOM_UTF8 + b"\xe9", "iso-8859-1") == "ï»¿é"


@pytest.mark.parametrize("label", ["utf-16", "unicode", "utf-16le"])
def test_text_without_zero_octets_is_not_utf_16_whatever_its_label(label: str) -> None:
    assert decode(b"This was never UTF-16.", label) == "This was never UTF-16."


def test_the_second_codec_of_a_charset_is_tried_before_anything_is_replaced() -> None:
    assert decode("啫喱 嘅".encode("big5hkscs"), "big5") == "啫喱 嘅"


@pytest.mark.parametrize("label", ["shift_jis", "utf-8", "iso-8859-1"])
def test_escapes_of_japanese_mail_are_stronger_than_a_label(label: str) -> None:
    assert decode("請求書の件".encode("iso-2022-jp"), label) == "請求書の件"


def test_chinese_mail_of_seven_bits_is_read() -> None:
    assert decode(b"\x1b$)A\x0eVPND\x0f ok", "iso-2022-cn") == "中文 ok"


@pytest.mark.parametrize(
    ("octets", "text"),
    [
        ("Grüße aus Köln é".encode()[:-1], "Grüße aus Köln \ufffd"),
        ("Größe, Köln, Zürich".encode() + b"\xa0.", "Größe, Köln, Zürich\ufffd."),
        (b"Caf\xe9", "Café"),
        (b"\xc4rger mit \xc3\xa9 und \xfc", "Ärger mit Ã© und ü"),
    ],
)
def test_utf_8_with_a_fault_in_it_is_still_utf_8(octets: bytes, text: str) -> None:
    assert decode(octets, None) == text


@pytest.mark.parametrize(
    ("assumed", "text"),
    [("koi8-r", "Смета"), ("utf-8", "óÍÅÔÁ"), ("utf-16", "óÍÅÔÁ"), ("nobody-knows", "óÍÅÔÁ"), (None, "óÍÅÔÁ")],
)
def test_a_charset_is_assumed_only_where_octets_say_nothing(assumed: str | None, text: str) -> None:
    assert decode_unnamed("Смета".encode("koi8-r"), assumed) == text
    assert decode_unnamed("Zoë".encode(), assumed) == "Zoë"
