"""What of a message is its text, what is a file, and what each file is called."""

import base64
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.mail.model import Content, Entity
from postroom.mail.parse import assemble, describe, split_message, wanted

PDF = b"Content-Type: application/pdf; name=m.pdf\n\n%PDF"


def multipart(kind: str, *parts: bytes, boundary: str = "b", parameters: str = "") -> bytes:
    head = f"Content-Type: multipart/{kind}; boundary={boundary}{parameters}\n\n".encode()
    line = f"--{boundary}".encode()
    return head + b"".join(line + b"\n" + part + b"\n" for part in parts) + line + b"--\n"


def plain(text: str, fields: str = "") -> bytes:
    return f"Content-Type: text/plain; charset=utf-8\n{fields}\n{text}".encode()


def html(text: str, fields: str = "") -> bytes:
    return f"Content-Type: text/html; charset=utf-8\n{fields}\n{text}".encode()


def read(message: bytes) -> Content:
    return assemble(split_message(message))


def names(message: bytes) -> list[str | None]:
    return [part.filename for part in read(message).attachments]


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (plain("Words."), "Words."),
        (plain("V29yZHMu", "Content-Transfer-Encoding: Base64 \n"), "Words."),
        (b"Subject: none\n", ""),
        (b"\nOnly a body.", "Only a body."),
        (multipart("alternative"), ""),
        (html("<p>One</p><p>Two</p>"), "One\n\nTwo"),
        (multipart("alternative", plain("P"), html("<p>H</p>")), "P"),
        (multipart("alternative", html("<p>H</p>"), plain("P")), "P"),
        (multipart("mixed", plain("One"), PDF, plain("Two")), "One\nTwo"),
        (multipart("mixed", html("<p>Main</p>"), plain("Footer")), "Main\nFooter"),
        (multipart("mixed", plain("P"), html("<p>H</p>")), "P"),
        (
            multipart("mixed", multipart("alternative", plain("P"), html("H"), boundary="i"), plain("Footer")),
            "P\nFooter",
        ),
        (multipart("mixed", plain("P"), multipart("alternative", html("<p>H</p>"), boundary="i")), "P\nH"),
        (multipart("mixed", PDF), None),
        (multipart("mixed", plain("log", "Content-Disposition: attachment\n"), plain("Words.")), "Words."),
        (plain("log", "Content-Disposition: attachment\n"), None),
        (b"Content-Type: nonsense\n\nWords.", "Words."),
        (b"Content-Type: text\n\nWords.", "Words."),
        (b"Content-Type: multipart/mixed\n\nWords.", "Words."),
        (plain("a \nb").replace(b"utf-8", b"utf-8; format=Flowed"), "a b"),
        (plain("a \nb").replace(b"utf-8", b"utf-8; format=flowed; delsp=Yes"), "ab"),
    ],
)
def test_the_text_of_a_message(message: bytes, text: str | None) -> None:
    assert read(message).text == text


def test_html_bodies_are_kept_in_order() -> None:
    content = read(multipart("mixed", html("<p>One</p>"), PDF, html("<p>Two</p>")))
    assert content.html == "<p>One</p>\n<p>Two</p>"
    assert content.text == "One\nTwo"
    assert read(plain("x")).html is None


def test_a_page_may_name_its_charset_only_when_its_type_does_not() -> None:
    page = b'<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-2">K\xf6sz\xf5n\xf6m'
    assert (read(b"Content-Type: text/html\n\n" + page).html or "").endswith("Köszőnöm")
    assert (read(b"Content-Type: text/html; charset=iso-8859-1\n\n" + page).html or "").endswith("Köszõnöm")


@pytest.mark.parametrize(
    ("part", "name"),
    [
        (PDF, "m.pdf"),
        (b"Content-Type: a/b; name=t.bin\nContent-Disposition: attachment; filename=../d.bin\n\nx", "d.bin"),
        (b"Content-Type: image/png\n\nx", "image-2.png"),
        (b"Content-Type: text/calendar; method=REQUEST\n\nBEGIN:VCALENDAR", "invite.ics"),
        (b"Content-Type: message/rfc822\n\nSubject: =?utf-8?q?In=3A?= ner\n\nx", "In_ ner.eml"),
        (b"Content-Type: message/rfc822\n\n\nx", "message.eml"),
        (b"Content-Type: application/octet-stream\n\nx", "attachment-2.bin"),
        (b"Content-Type: text/plain; name=notes.txt\n\nx", "notes.txt"),
        (b"Content-Type: text/html\nContent-Disposition: unheard-of\n\nx", "attachment-2.html"),
        (b"Content-Type: text/csv\n\nx", "attachment-2.csv"),
    ],
)
def test_everything_else_is_a_file_with_a_name(part: bytes, name: str) -> None:
    assert names(multipart("mixed", plain("See file."), part)) == [name]


def test_a_first_text_with_a_name_is_the_body_all_the_same() -> None:
    content = read(multipart("mixed", plain("Words.", "Content-Disposition: inline; filename=body.txt\n"), PDF))
    assert (content.text, [part.filename for part in content.attachments]) == ("Words.", ["m.pdf"])


def test_a_later_text_with_a_name_is_a_file() -> None:
    named = plain("x", "Content-Disposition: inline; filename=notes.txt\n")
    assert names(multipart("mixed", plain("Words."), PDF, named)) == ["m.pdf", "notes.txt"]


def test_parts_of_a_digest_are_messages() -> None:
    parts = read(multipart("digest", b"\nSubject: one\n\nx", b"Content-Type: text/plain\n\ny")).parts
    assert [(part.content_type, part.filename) for part in parts] == [
        ("message/rfc822", "one.eml"),
        ("text/plain", None),
    ]


def test_sizes_are_of_decoded_octets() -> None:
    encoded = b"Content-Type: a/b\nContent-Transfer-Encoding: base64\n\n" + base64.encodebytes(b"x" * 100)
    assert [part.size for part in read(multipart("mixed", plain("é"), encoded)).parts] == [2, 100]


def image(fields: bytes) -> bytes:
    return b"Content-Type: image/png\nContent-ID: <i@example.org>\n" + fields + b"\nx"


@pytest.mark.parametrize(
    ("kind", "page", "fields", "inline"),
    [
        ("related", "<img src=cid:i@example.org>", b"", True),
        ("related", "<img src=cid:i@example.org>", b"Content-Disposition: attachment\n", True),
        ("related", "<img src=CID:i%40example.org>", b"", True),
        ("related", "<p>no image</p>", b"", False),
        ("related", "<p>no image</p>", b"Content-Disposition: inline\n", True),
        ("mixed", "<img src=cid:i@example.org>", b"", True),
        ("mixed", "<img src=cid:i@example.org>", b"Content-Disposition: attachment\n", False),
        ("mixed", "<p>no image</p>", b"", False),
    ],
)
def test_an_image_is_inline_when_the_page_shows_it(kind: str, page: str, fields: bytes, inline: bool) -> None:
    picture = read(multipart(kind, html(page), image(fields))).attachments[0]
    assert (picture.inline, picture.content_id) == (inline, "i@example.org")


def test_text_that_belongs_to_a_page_is_not_the_body() -> None:
    content = read(multipart("related", html("<p>Page</p>"), plain("frame", "Content-ID: <f>\n")))
    assert (content.text, len(content.attachments)) == ("Page", 1)
    assert read(multipart("related", image(b""), html("<p>Page</p>"))).text == "Page"


@pytest.mark.parametrize(
    ("message", "faults"),
    [
        (multipart("signed", plain("x"), PDF), {"signed"}),
        (multipart("encrypted", plain("Version: 1"), PDF), {"encrypted"}),
        (b"Content-Type: application/pkcs7-mime; smime-type=signed-data\n\nx", {"signed"}),
        (b"Content-Type: application/x-pkcs7-mime; smime-type=enveloped-data\n\nx", {"encrypted"}),
        (b"Content-Type: application/pkcs7-mime\n\nx", {"encrypted"}),
        (multipart("mixed", multipart("signed", plain("x"), PDF, boundary="i")), {"signed"}),
        (b"Content-Type: multipart/mixed\n\nx", {"mime_ambiguous"}),
        (plain("x"), set()),
    ],
)
def test_what_is_special_or_wrong_is_noted(message: bytes, faults: set[str]) -> None:
    assert read(message).faults == faults


def test_ciphertext_is_never_the_body() -> None:
    content = read(multipart("encrypted", plain("Version: 1"), plain("BEGIN PGP MESSAGE")))
    assert (content.text, len(content.attachments)) == (None, 2)


def test_a_cut_body_is_truncated_without_half_a_letter() -> None:
    content = assemble(split_message(plain("Zoë")[:-1], cut=True))
    assert content.text == "Zo"
    assert content.faults == {"truncated"}
    assert content.parts[0].size is None


def test_faults_known_before_are_kept() -> None:
    assert assemble(split_message(plain("x")), frozenset({"truncated"})).faults == {"truncated"}


def without(entity: Entity, keep: tuple[str, ...]) -> Entity:
    """The tree as it is when only the sections in `keep` were fetched."""
    octets = entity.octets if entity.section in keep else None
    return replace(entity, octets=octets, children=tuple(without(child, keep) for child in entity.children))


@pytest.mark.parametrize(
    "message",
    [
        plain("Words."),
        multipart(
            "mixed",
            multipart("alternative", plain("P"), html("<p>H</p>"), boundary="i"),
            PDF,
            plain("Footer"),
        ),
        multipart("related", html("<img src=cid:i@example.org>"), image(b"")),
    ],
)
def test_the_wanted_sections_are_enough_for_the_same_text(message: bytes) -> None:
    root = split_message(message)
    fetched = without(root, wanted(root))
    whole, part = assemble(root), assemble(fetched)
    assert (part.text, part.html, part.faults) == (whole.text, whole.html, whole.faults)
    assert [(p.section, p.filename, p.inline, p.is_body) for p in describe(fetched)] == [
        (p.section, p.filename, p.inline, p.is_body) for p in describe(root)
    ]


PIECES = st.sampled_from(
    [
        *(
            b"--b",
            b"--b--",
            b"--i",
            b"",
            b"text \xe9\xff\x00",
            b"<p>x</p>",
            b"=C3=\n",
            b"> q ",
            b"\x1b$B",
            b"+AOk",
        ),
        *(
            b"Content-Type: text/html; charset=utf-7",
            b"Content-Type: text/plain; format=flowed; charset=utf-16",
        ),
        *(
            b"Content-Type: multipart/related; boundary=i",
            b"Content-Type: message/rfc822",
            b"Content-Type: x",
        ),
        *(
            b"Content-Transfer-Encoding: base64",
            b"Content-Transfer-Encoding: quoted-printable",
            b"Content-ID: <x>",
        ),
        *(b"Content-Disposition: attachment; filename*=utf-8''%2F%00%0A", b"Content-Disposition: inline"),
    ]
)


@given(st.lists(PIECES, max_size=25), st.booleans(), st.sampled_from([b"\n", b"\r\n"]))
def test_any_message_has_clean_content(pieces: list[bytes], cut: bool, end: bytes) -> None:
    message = end.join([b"Content-Type: multipart/mixed; boundary=b", b"", *pieces])
    content = assemble(split_message(message, cut=cut))
    texts = [content.text, content.html, *(part.filename for part in content.parts)]
    assert "\\u0000" not in json.dumps(texts)
    json.dumps(texts, ensure_ascii=False).encode("utf-8")
    assert all(part.filename or part.is_body for part in content.parts)


def test_an_empty_text_does_not_stand_for_a_full_page() -> None:
    assert read(multipart("alternative", plain(" \r\n\xa0"), html("<p>Words.</p>"))).text == "Words."
    assert read(multipart("mixed", plain(""), html("<p>Words.</p>"))).text == "Words."


@pytest.mark.parametrize(
    ("type_", "page", "text"),
    [
        (b"text/html; charset=us-ascii", '<meta charset="koi8-r">Смета'.encode("koi8-r"), "Смета"),
        (b"text/html; charset=nobody-knows", "<meta charset=koi8-r>Смета".encode("koi8-r"), "Смета"),
        (b"text/html; charset=us-ascii", "<meta charset=koi8-r>Смета".encode(), "Смета"),
        (b"text/html; charset=utf-8", "<meta charset=koi8-r>Смета".encode(), "Смета"),
        (b"text/html", "<meta charset=utf-16>Grüße".encode(), "Grüße"),
    ],
)
def test_a_page_names_its_charset_where_its_type_says_nothing_of_eight_bits(
    type_: bytes, page: bytes, text: str
) -> None:
    assert read(b"Content-Type: " + type_ + b"\n\n" + page).text == text


def test_text_of_an_unknown_kind_is_read_where_there_is_no_other() -> None:
    assert read(b"Content-Type: text/x-markdown\n\n# Words").text == "# Words"
    assert read(b"Content-Type: text/csv\n\na,b").text is None
    amp = b"Content-Type: text/x-amp-html\n\n<amp>"
    assert read(multipart("alternative", amp, html("<p>Words.</p>"))).text == "Words."
