"""The sample mail: enough of it, well formed, of every kind, and always fresh."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from email.header import decode_header, make_header
from email.message import Message
from email.utils import parsedate_to_datetime
from importlib.resources import files

import pytest

from postroom.demo.samples import Sample, samples, span

START = datetime(2026, 3, 3, 9, 0, tzinfo=UTC)
MAIL = samples(START)
PARSED = {sample.name: message_from_bytes(sample.message) for sample in MAIL}
RESERVED = ("example", "test")  # RFC 2606
DOMAIN = re.compile(r"(?:@|https?://)([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)")

each = pytest.mark.parametrize("sample", MAIL, ids=lambda sample: sample.name)


def parts(message: Message) -> list[Message]:
    return [part for part in message.walk() if not part.is_multipart()]


def text(part: Message) -> str:
    payload = part.get_payload(decode=True)
    assert isinstance(payload, bytes)
    charset = part.get_content_charset("us-ascii")
    return payload.decode("iso-8859-8" if charset == "iso-8859-8-i" else charset)


def texts(message: Message) -> list[str]:
    return [text(part) for part in parts(message) if part.get_content_maintype() == "text"]


def quoted_moments(message: Message) -> list[datetime]:
    words = re.findall(r"^(?:On|Sent:) (\w{3}, \d+ \w{3} \d{4} at \d\d:\d\d)", "".join(texts(message)), re.MULTILINE)
    return [datetime.strptime(word, "%a, %d %b %Y at %H:%M").replace(tzinfo=UTC) for word in words]


def filenames(name: str) -> list[str | None]:
    return [part.get_filename() for part in parts(PARSED[name]) if part.get_filename()]


def references(message: Message) -> list[str]:
    return re.findall(r"<[^>]+>", message.get("References", ""))


def inbox(mailbox: str) -> list[Sample]:
    return [sample for sample in MAIL if (sample.mailbox, sample.folder) == (mailbox, "INBOX")]


def test_there_are_about_sixty_messages_and_a_good_inbox_in_both_mailboxes() -> None:
    assert 55 <= len(MAIL) <= 80
    assert len(inbox("work")) >= 12
    assert len(inbox("personal")) >= 12


def test_the_two_inboxes_are_interleaved() -> None:
    merged = [sample.mailbox for sample in MAIL if sample.folder == "INBOX"][-30:]
    longest = max(len(list(run)) for _, run in itertools.groupby(merged))

    assert longest <= 3


@pytest.mark.parametrize("mailbox", ["work", "personal"])
def test_a_mailbox_has_the_folders_that_names_make_recognisable(mailbox: str) -> None:
    folders = {sample.folder for sample in MAIL if sample.mailbox == mailbox}

    assert folders >= {"INBOX", "Sent", "Drafts", "Archive", "Trash"}
    assert any(not folder.isascii() for folder in folders)


def test_every_file_is_in_the_index_and_every_entry_has_its_file() -> None:
    mail = files("postroom.demo") / "mail"
    stored = {
        (mailbox.name, entry.name.removesuffix(".eml"))
        for mailbox in mail.iterdir()
        if mailbox.is_dir()
        for entry in mailbox.iterdir()
    }

    assert Counter((sample.mailbox, sample.name) for sample in MAIL) == Counter(stored)


@each
def test_lines_end_with_crlf_and_with_nothing_else(sample: Sample) -> None:
    assert sample.message.endswith(b"\r\n")
    assert not re.search(rb"(?<!\r)\n|\r(?!\n)", sample.message)


@each
def test_the_standard_library_finds_no_defect(sample: Sample) -> None:
    message = PARSED[sample.name]

    assert [part.defects for part in message.walk() if part.defects] == []
    assert texts(message)  # which decodes every text in its own charset, strictly


@each
def test_the_date_of_a_message_is_its_arrival(sample: Sample) -> None:
    assert parsedate_to_datetime(PARSED[sample.name]["Date"]) == sample.arrived


@each
def test_no_placeholder_is_left(sample: Sample) -> None:
    message = PARSED[sample.name]
    headers = " ".join(str(value) for value in message.values())

    assert "{{" not in headers + " ".join(texts(message))


@each
def test_every_address_and_link_lies_in_a_reserved_domain(sample: Sample) -> None:
    message = PARSED[sample.name]
    words = " ".join([*(str(value) for value in message.values()), *texts(message)])
    found = DOMAIN.findall(words)

    assert found
    assert [domain for domain in found if domain.rpartition(".")[2] not in RESERVED] == []


def test_no_two_messages_share_an_id() -> None:
    ids = Counter(message["Message-ID"] for message in PARSED.values())

    assert None not in ids
    assert ids.most_common(1)[0][1] == 1


def test_conversations_run_through_inbox_and_sent() -> None:
    where = {message["Message-ID"]: sample.folder for sample, message in zip(MAIL, PARSED.values(), strict=True)}
    folders: dict[str, set[str]] = {}
    for sample, message in zip(MAIL, PARSED.values(), strict=True):
        for first in references(message)[:1]:
            folders.setdefault(first, {where.get(first, "")}).add(sample.folder)

    assert sum(found >= {"INBOX", "Sent"} for found in folders.values()) >= 4


def test_what_is_referred_to_arrived_before() -> None:
    arrived = {PARSED[sample.name]["Message-ID"]: sample.arrived for sample in MAIL}
    late = [
        (sample.name, reference)
        for sample in MAIL
        for reference in references(PARSED[sample.name])
        if arrived.get(reference, START) > sample.arrived
    ]

    assert late == []


def test_a_quotation_names_the_minute_in_which_the_quoted_message_arrived() -> None:
    arrived = {PARSED[sample.name]["Message-ID"]: sample.arrived for sample in MAIL}
    quoting = {name: found for name, message in PARSED.items() if (found := quoted_moments(message))}

    assert len(quoting) >= 6
    for name, moments in quoting.items():
        assert set(moments) <= {arrived[reference] for reference in references(PARSED[name])}


def test_the_mail_is_of_every_kind_that_a_gateway_must_show() -> None:
    kinds = {part.get_content_type() for message in PARSED.values() for part in message.walk()}

    assert kinds >= {
        "application/ics",
        "application/pdf",
        "application/pgp-signature",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "image/png",
        "message/delivery-status",
        "message/rfc822",
        "multipart/related",
        "multipart/report",
        "multipart/signed",
        "text/calendar",
        "text/csv",
    }


def test_the_mail_is_in_every_charset_that_a_gateway_must_read() -> None:
    charsets = {part.get_content_charset() for message in PARSED.values() for part in parts(message)}

    assert charsets >= {"gb2312", "iso-2022-jp", "iso-8859-8-i", "koi8-r", "utf-8", "windows-1252"}


def test_names_and_subjects_of_other_scripts_decode() -> None:
    def subject(name: str) -> str:
        return str(make_header(decode_header(PARSED[name]["Subject"])))

    assert subject("japanese-shipment") == "【出荷のご連絡】ブレーキレバー BL-21"
    assert subject("chinese-offer") == "报价:防刺轮胎 LT-260"
    assert "=?gb2312?b?" in PARSED["chinese-offer"]["Subject"]
    assert subject("russian-reminder") == "Счёт N 118: напоминание"
    assert subject("hebrew-dalia") == "מגיעים ביום ראשון"
    assert filenames("stock-list") == ["Lagerbestand für März – Depot Zürich.csv"]
    assert filenames("water-bill") == ["Abrechnung Wasser € 86,40.pdf"]


def test_the_newest_message_of_each_mailbox_is_less_than_an_hour_old() -> None:
    for mailbox in ("work", "personal"):
        assert timedelta() < START - inbox(mailbox)[-1].arrived < timedelta(hours=1)


def test_a_later_start_moves_everything_along() -> None:
    week = timedelta(days=7)

    later = samples(START + week)

    assert [sample.arrived - week for sample in later] == [sample.arrived for sample in MAIL]
    invitation = next(sample for sample in later if sample.name == "invitation")
    assert b"DTSTART:20260313T090000Z" in invitation.message


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("25m", timedelta(minutes=25)),
        ("6d4h", timedelta(days=6, hours=4)),
        ("-1d1h30m", -timedelta(days=1, hours=1, minutes=30)),
        ("+3d", timedelta(days=3)),
    ],
)
def test_a_span_of_time_is_told_in_days_hours_and_minutes(text: str, length: timedelta) -> None:
    assert span(text) == length
