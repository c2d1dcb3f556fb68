"""An answer goes to whom it must, once each, in the thread it belongs to; nobody is dropped without a word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.base.errors import GatewayError
from postroom.mail.head import parse_head
from postroom.mail.outgoing.identity import Identities
from postroom.mail.outgoing.replying import MAX_REFERENCES, Reply, derive_reply, reply_subject

OURS = Identities.read(["Ana <ana@example.net>", "Helpdesk@Example.NET", "*@example.net"], "ana@example.net")


def reply(block: str, *, everyone: bool = False) -> Reply:
    return derive_reply(parse_head(block.encode()), OURS, everyone=everyone)


def addresses(told: Reply) -> tuple[list[str], list[str]]:
    return [one.address for one in told.to], [one.address for one in told.cc]


def test_reply_to_comes_before_from_and_everybody_in_from_is_answered() -> None:
    assert addresses(reply("From: no@x.example\nReply-To: desk@y.example\n")) == (["desk@y.example"], [])
    assert addresses(reply("From: a@x.example, B <b@x.example>\n")) == (["a@x.example", "b@x.example"], [])


@pytest.mark.parametrize("empty", ["<>", "", "undisclosed-recipients:;", '""', "()"])
def test_a_reply_to_that_names_nobody_is_none(empty: str) -> None:
    told = reply(f"From: a@x.example\nReply-To: {empty}\n")
    assert addresses(told) == (["a@x.example"], [])
    assert told.left_out == ()


def test_reply_to_that_names_ourselves_answers_the_sender() -> None:
    assert addresses(reply("From: form@x.example\nReply-To: ANA@example.net\n")) == (["form@x.example"], [])


def test_a_copy_goes_to_all_others_once_and_never_to_our_exact_addresses() -> None:
    block = (
        "From: a@x.example\nTo: Ana <ANA@Example.net>, helpdesk@example.net, b@x.example, colleague@example.net\n"
        "Cc: A@X.example, B@x.example, c@x.example\n"
    )
    assert addresses(reply(block, everyone=True)) == (
        ["a@x.example"],
        ["b@x.example", "colleague@example.net", "c@x.example"],
    )
    assert addresses(reply(block)) == (["a@x.example"], [])


def test_an_answer_to_what_we_sent_goes_to_whom_that_went() -> None:
    sent = "From: ana@example.net\nTo: b@x.example, c@x.example\nCc: d@x.example, ana@example.net\n"
    assert addresses(reply(sent)) == (["b@x.example", "c@x.example"], [])
    assert addresses(reply(sent, everyone=True)) == (["b@x.example", "c@x.example"], ["d@x.example"])
    assert addresses(reply("From: ana@example.net\nCc: d@x.example\n")) == (["d@x.example"], [])


def test_a_note_to_oneself_is_answered_to_oneself() -> None:
    assert addresses(reply("From: ana@example.net\nTo: ana@example.net\n")) == (["ana@example.net"], [])
    assert addresses(reply("From: ana@example.net\n")) == (["ana@example.net"], [])


def test_nobody_is_dropped_without_a_word() -> None:
    told = reply("From: a@x.example\nTo: bob@localhost, ok@x.example\nCc: x@ok.example)y@evil.example\n", everyone=True)
    assert addresses(told) == (["a@x.example"], ["ok@x.example"])
    assert told.left_out == ("bob@localhost", "(an address that cannot be read)")


@pytest.mark.parametrize("block", ["Subject: x\n", "From: <>\n", "From: root@localhost\n", "From: a@b.example)c@d\n"])
def test_a_message_that_names_nobody_cannot_be_answered(block: str) -> None:
    with pytest.raises(GatewayError) as told:
        reply(block)
    assert told.value.code == "validation_error"


@pytest.mark.parametrize("field", ["Reply-To", "Cc"])
def test_whoever_writes_to_us_cannot_have_us_write_to_thousands(field: str) -> None:
    with pytest.raises(GatewayError) as told:
        reply(f"From: a@x.example\n{field}: {', '.join(f'n{at}@x.example' for at in range(501))}\n", everyone=True)
    assert told.value.details["argument"] == "uid"


def test_an_address_that_is_told_of_is_told_in_short() -> None:
    told = reply(f"From: a@x.example\nReply-To: {'x' * 100_000}@x.example\n")
    assert [len(one) for one in told.left_out] == [100]


def test_an_address_is_read_as_it_came_and_not_as_it_looks() -> None:
    told = reply("From: a@x.example\nTo: b\u200bob@x.example\n", everyone=True)
    assert addresses(told)[1] == []
    assert told.left_out == ("(an address that cannot be read)",)


def test_names_go_along_but_none_that_speaks_for_another_address() -> None:
    told = reply('From: =?utf-8?q?Z=C3=B3e=2C_x?= <a@x.example>, "boss@y.example" <b@x.example>\n')
    assert [one.name for one in told.to] == ["Zóe, x", None]


@pytest.mark.parametrize(
    ("subject", "answered"),
    [
        (None, "Re:"),
        ("", "Re:"),
        ("Test", "Re: Test"),
        ("Re: Test", "Re: Test"),
        ("RE: re: Re:Test", "Re: Test"),
        ("AW: Test", "Re: Test"),
        ("SV: VS: Antw: Test", "Re: Test"),
        ("Re[2]: Test", "Re: Test"),
        ("Re(3): AW[4]: Test", "Re: Test"),
        ("Re^2: Test", "Re: Test"),
        ("R: Test", "Re: Test"),
        ("Odp: RIF: Test", "Re: Test"),
        ("回复：Test", "Re: Test"),
        ("Re : Test", "Re: Test"),
        ("На: Ответ: Test", "Re: Test"),
        ("Fwd: Test", "Re: Fwd: Test"),
        ("r: lower", "Re: r: lower"),
        ("Regarding: Test", "Re: Regarding: Test"),
        ("Resume: Test", "Re: Resume: Test"),
        ("[list] Re: Test", "Re: [list] Re: Test"),
        ("Re: " * 100 + "x", "Re: " + "Re: " * 80 + "x"),
        ("a\u202eb", "Re: ab"),
    ],
)
def test_re_stands_once_before_the_subject(subject: str | None, answered: str) -> None:
    assert reply_subject(subject) == answered


def test_a_hostile_subject_stays_one_line() -> None:
    told = reply("From: x@example.org\nSubject: Re: =?utf-8?q?x=0D=0ABcc:_evil@attacker.example?=\n")
    assert told.subject == "Re: x Bcc: evil@attacker.example"


@given(st.text(max_size=100))
def test_any_subject_gives_one_line_with_re_and_answering_twice_changes_nothing(subject: str) -> None:
    once = reply_subject(subject)
    assert once.startswith("Re:")
    assert not any(ord(letter) < 32 for letter in once)
    assert reply_subject(once) == once


def test_references_are_those_of_the_parent_and_the_parent_last() -> None:
    told = reply("From: a@x.example\nMessage-ID: <c@x>\nReferences: <a@x>\n <b@x> <c@x> <b@x>\n")
    assert (told.in_reply_to, told.references) == ("<c@x>", ("<a@x>", "<b@x>", "<c@x>"))
    told = reply("From: a@x.example\nMessage-ID: <c@x>\nIn-Reply-To: <a@x>\n")
    assert told.references == ("<a@x>", "<c@x>")
    told = reply("From: a@x.example\n")
    assert (told.in_reply_to, told.references) == (None, ())


def test_ids_that_could_be_more_are_left_out_and_many_are_cut_in_the_middle() -> None:
    hostile = "<a@x>\x0b<b\u00e9@x> <" + "c" * 251 + "@x> <=?utf-8?q?d=0D=0A?=> <e@x>"
    told = reply(f"From: a@x.example\nMessage-ID: <f@x>\nReferences: {hostile}\n")
    assert set(told.references) <= {"<a@x>", "<d>", "<e@x>", "<f@x>"}
    many = " ".join(f"<{at}@x>" for at in range(100))
    told = reply(f"From: a@x.example\nMessage-ID: <f@x>\nReferences: {many}\n")
    assert len(told.references) == MAX_REFERENCES
    assert (told.references[0], told.references[-2:]) == ("<0@x>", ("<99@x>", "<f@x>"))


def test_a_thread_of_answers_to_answers_keeps_its_root() -> None:
    references: tuple[str, ...] = ()
    for turn in range(60):
        told = reply(f"From: a@x.example\nMessage-ID: <{turn}@x>\nReferences: {' '.join(references)}\n")
        references = told.references
        assert references[0] == "<0@x>"
        assert told.in_reply_to == references[-1] == f"<{turn}@x>"
