"""A file name from a stranger is one safe component."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.mail.filename import MAX_LENGTH, generated_filename, message_filename, safe_filename


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("report.pdf", "report.pdf"),
        ("../../etc/cron.d/job", "job"),
        ("C:\\temp\\..\\boot.ini", "boot.ini"),
        ("C:boot.ini", "boot.ini"),
        ("file.txt:stream", "file.txt_stream"),
        ("folder/", "folder"),
        ("invoice\u202efdp.exe", "invoicefdp.exe"),
        ("a\u200bb\ufeff.txt", "ab.txt"),
        ("a\r\nb.txt", "a b.txt"),
        ("nul\x00.exe", "nul.exe"),
        ("می\u200cخواهم.pdf", "می\u200cخواهم.pdf"),
        ("", None),
        (" . ", None),
        ("..", None),
        ("../..", None),
        (None, None),
    ],
)
def test_one_component_is_left_of_a_name(name: str | None, safe: str | None) -> None:
    assert safe_filename(name) == safe


def test_a_long_name_keeps_its_extension() -> None:
    assert safe_filename("a" * 400 + ".tar.gz") == "a" * 252 + ".gz"
    assert safe_filename("a" * 400) == "a" * MAX_LENGTH


@given(st.text(max_size=400))
def test_any_name_is_safe_or_none(name: str) -> None:
    safe = safe_filename(name)
    if safe is None:
        return
    assert 0 < len(safe) <= MAX_LENGTH
    assert not set(safe) & set("/\\:")
    assert safe.strip(" .")
    assert all(unicodedata.category(c) not in ("Cc", "Cs") for c in safe)
    assert safe_filename(safe) == safe


def test_a_part_without_a_name_gets_one_by_its_type() -> None:
    assert generated_filename("image/jpeg", 2) == "image-2.jpg"
    assert generated_filename("text/calendar", 3) == "invite.ics"
    assert generated_filename("x/unknown", 4) == "attachment-4.bin"


def test_an_attached_message_is_named_after_its_subject() -> None:
    assert message_filename("Re: offer 3/4") == "Re_ offer 3-4.eml"
    assert message_filename(None) == "message.eml"
    assert message_filename("..") == "message.eml"
