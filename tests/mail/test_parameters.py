"""Types and parameters are read as RFC 2045 and RFC 2231 say, and as mail really writes them."""

import re
import time
from email.utils import encode_rfc2231
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.mail.parameters import MAX_PARAMETERS, contradicts_itself, parse_mime_value

TEXTS = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S")), min_size=1, max_size=40)


def filename(value: bytes) -> str | None:
    return parse_mime_value(b"attachment; " + value).parameters.get("filename")


@pytest.mark.parametrize(
    ("value", "type_", "parameters"),
    [
        (b"text/plain", "text/plain", {}),
        (b"TEXT/HTML; Charset=UTF-8", "text/html", {"charset": "UTF-8"}),
        (
            b"text/plain (note); charset = utf-8 (yes) ; format=flowed",
            "text/plain",
            {"charset": "utf-8", "format": "flowed"},
        ),
        (b'multipart/mixed; boundary="a;b c"', "multipart/mixed", {"boundary": "a;b c"}),
        (b"multipart/mixed; boundary=----=_Part_1", "multipart/mixed", {"boundary": "----=_Part_1"}),
        (b"text/plain charset=utf-8", "text/plain", {"charset": "utf-8"}),
        (
            b'text/plain; charset="utf-8"format=flowed;;; delsp=yes',
            "text/plain",
            {"charset": "utf-8", "format": "flowed", "delsp": "yes"},
        ),
        (b"text/plain; charset=utf-8; name*", "text/plain", {"charset": "utf-8"}),
        (b"text/plain; charset=a; charset=b", "text/plain", {"charset": "a"}),
        (b"", "", {}),
        (b"; charset=utf-8", "", {"charset": "utf-8"}),
        (b"charset=utf-8", "", {"charset": "utf-8"}),
        (b'"attachment"; size=3', "attachment", {"size": "3"}),
        (b"(page) text/html; charset=utf-8", "text/html", {"charset": "utf-8"}),
        (b"text / html; charset=utf-8", "text/html", {"charset": "utf-8"}),
        (b"text/html, charset=utf-8", "text/html", {"charset": "utf-8"}),
    ],
)
def test_types_and_parameters(value: bytes, type_: str, parameters: dict[str, str]) -> None:
    parsed = parse_mime_value(value)
    assert (parsed.value, parsed.parameters) == (type_, parameters)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (b"filename=report.pdf", "report.pdf"),
        (b"filename=Quarterly report (1).pdf; size=3", "Quarterly report (1).pdf"),
        (b'filename="a \\"b\\" \\\\c.pdf"', 'a "b" \\c.pdf'),
        (b'filename="C:\\temp\\x.pdf"', "C:\\temp\\x.pdf"),
        (b'filename="never closed.pdf; size=3', "never closed.pdf"),
        (b"filename=\xe9t\xe9.pdf", "été.pdf"),
        (b'filename="The "best" plan.pdf"', 'The "best" plan.pdf'),
        (b'filename="The "best" plan.pdf"; size=3', 'The "best" plan.pdf'),
        (b'filename="5" pipe.pdf"', '5" pipe.pdf'),
        (b'filename="a.pdf" size="22"', "a.pdf"),
        (b'filename="a.pdf" (scan)', "a.pdf"),
        (b'filename="a.pdf"; x="c;d"', "a.pdf"),
        (b'filename="=?utf-8?B?xI0uIDUucGRm?="', "č. 5.pdf"),
        (b"filename==?utf-8?Q?a_b.pdf?=", "a b.pdf"),
        (b'filename*0="=?utf-8?B?WnByw6F2"; filename*1="YQ==?="', "Zpráva"),
        (b"filename=plain.pdf; filename*=utf-8''M%C3%A4rz.pdf", "März.pdf"),
        (b"filename*=utf-8''M%C3%A4rz.pdf; filename=plain.pdf", "März.pdf"),
        (b"filename=plain.pdf; filename*0=long; filename*1=er.pdf", "longer.pdf"),
        (b"filename=plain.pdf; filename*=", "plain.pdf"),
        (b"filename*=\"utf-8''B%C4%9Bl.pdf\"", "Běl.pdf"),
        (b'filename*0*="\'\'report%2E"; filename*1*="%70"; filename*2=df', "report.pdf"),
        (b"filename*0*=ISO-8859-1'fr'r%E9su; filename*1*=m%E9.pdf", "résumé.pdf"),
        (b"filename*0*=UTF-8''%D1; filename*1*=%82.pdf", "т.pdf"),
        (b"filename*1*=%82.pdf; filename*0*=UTF-8''%D1", "т.pdf"),
        (b"filename*0*=utf-8''a; filename*1=%20b; filename*2*=%20c", "a%20b c"),
        (b"filename*0=\"Ada's 'best' plan\"; filename*1=.pdf", "Ada's 'best' plan.pdf"),
        (b"filename*1=a; filename*2=b; filename*4=d", "ab"),
        (b"filename*0=a; filename*0=b; filename*1=c", "ac"),
        (b"filename*=no%20charset.pdf", "no charset.pdf"),
        (b"filename*=utf-8''bad%ZZ%4", "bad%ZZ%4"),
        (b"filename*=rot13''uryyb", "uryyb"),
        (b'filename="a\tb\x00c"', "a bc"),
    ],
)
def test_a_file_name_is_read_in_every_form(value: bytes, name: str) -> None:
    assert filename(value) == name


def test_a_parameter_with_two_values_contradicts_itself() -> None:
    assert contradicts_itself(b"multipart/mixed; boundary=a; boundary=b", "boundary")
    assert not contradicts_itself(b"multipart/mixed; boundary=a; boundary=a", "boundary")
    assert not contradicts_itself(b"multipart/mixed; boundary*0=a; boundary*1=b", "boundary")


def test_the_number_of_parameters_is_bounded() -> None:
    value = b"a/b" + b"".join(b";p%d=x" % number for number in range(MAX_PARAMETERS + 50))
    assert len(parse_mime_value(value).parameters) == MAX_PARAMETERS


@given(TEXTS, st.sampled_from(["utf-8", "iso-8859-2", None]), st.integers(1, 9))
def test_extended_values_are_read_back_however_they_are_cut(text: str, charset: str | None, width: int) -> None:
    octets = text.encode(charset or "utf-8", "ignore")
    encoded = quote(octets, safe="")
    pieces = [f"{charset or ''}''", *(encoded[at : at + width] for at in range(0, len(encoded), width))]
    pieces = _whole_escapes(pieces)
    value = "; ".join(f"filename*{number}*={piece}" for number, piece in enumerate(pieces))
    assert filename(value.encode()) == octets.decode(charset or "utf-8")


def _whole_escapes(pieces: list[str]) -> list[str]:
    """No percent escape is cut: RFC 2231 cuts between octets."""
    done: list[str] = []
    for piece in pieces:
        if done and re.search(r"%.?$", done[-1]):
            done[-1] += piece
        else:
            done.append(piece)
    return done


@given(TEXTS)
def test_what_python_writes_is_read_back(text: str) -> None:
    assert filename(b"filename*=" + encode_rfc2231(text, "utf-8").encode()) == text


@given(st.binary(max_size=200))
def test_any_octets_give_one_line_values(value: bytes) -> None:
    for form in (value, b"a/b; " + value, b"a/b; filename*0*=" + value):
        parsed = parse_mime_value(form)
        for text in (parsed.value, *parsed.parameters, *parsed.parameters.values()):
            assert not re.search("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]", text)


def test_a_name_whose_quotes_never_close_is_looked_at_once_not_again_for_each_parameter() -> None:
    started = time.process_time()
    parse_mime_value(b"attachment" + b';filename=">>' * 5_000)
    assert time.process_time() - started < 0.3
