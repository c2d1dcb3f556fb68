"""Octets to responses, commands to octets: RFC 9051 section 9 and what servers make of it."""

import contextlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.imap.faults import WireFault
from postroom.imap.wire import (
    MAX_NESTING,
    MAX_SYNTAX,
    Atom,
    Continuation,
    Garbled,
    Literal,
    Status,
    Stray,
    Untagged,
    announced_literal,
    read_response,
    sequence_set,
    tokenize,
    write_command,
)


def test_a_fetch_response_with_a_literal_becomes_nested_tokens() -> None:
    response = read_response([b"* 2 FETCH (UID 5 BODY[HEADER.FIELDS (FROM TO)] {3}", Literal(b"a\r\n"), b" FLAGS ())"])
    assert response == Untagged("FETCH", 2, [[b"UID", b"5", b"BODY[HEADER.FIELDS (FROM TO)]", b"a\r\n", b"FLAGS", []]])


def test_nil_is_none_but_a_quoted_nil_is_a_string() -> None:
    assert tokenize([b'NIL "NIL" nil']) == [None, b"NIL", None]


def test_escapes_in_quoted_strings_are_undone_once() -> None:
    assert tokenize([rb'"a\\b" "q\"uo" "ends \""']) == [b"a\\b", b'q"uo', b'ends "']


def test_a_folder_name_may_begin_with_a_bracket() -> None:
    assert read_response([b'* LIST (\\HasNoChildren) "/" [tag]/Trash']) == Untagged(
        "LIST", None, [[b"\\HasNoChildren"], b"/", b"[tag]/Trash"]
    )


def test_a_response_code_without_text_is_read() -> None:
    assert read_response([b"* OK [HIGHESTMODSEQ 8123]"]) == Status(None, "OK", "HIGHESTMODSEQ", [b"8123"], "")


def test_a_status_text_that_ends_like_a_literal_announces_none() -> None:
    assert announced_literal(b"* OK see {12}", first=True) is None
    assert announced_literal(b"P1 NO over {12}", first=True) is None
    assert announced_literal(b"* 1 FETCH (BODY[] {12}", first=True) == 12
    assert announced_literal(b" BODY[1] {4294967295}", first=False) == 4294967295


def test_a_continuation_may_be_empty() -> None:
    assert read_response([b"+"]) == Continuation(b"")


def test_a_missing_parenthesis_costs_one_message_and_names_it() -> None:
    assert read_response([b"* 3 FETCH (UID 7 BODYSTRUCTURE ((NIL)"]) == Garbled("FETCH", 7)


def test_lists_deeper_than_the_bound_are_read_past() -> None:
    deep = b"(" * 5000 + b"x" + b")" * 5000
    (token,) = tokenize([deep])
    depth = 0
    while isinstance(token, list) and token:
        token, depth = token[0], depth + 1
    assert depth < MAX_NESTING


def test_a_million_brackets_and_quotes_cost_linear_time() -> None:
    started = time.process_time()
    for octets in (b"[" * 1_000_000, b'("' * 500_000, b"a[" * 500_000, b"\\" * 1_000_000):
        with pytest.raises(WireFault):
            tokenize([octets + b'"'])
    assert time.process_time() - started < 20  # quadratic work would take hours


def test_a_line_that_begins_no_response_is_told_as_stray() -> None:
    for line in (b"P1", b"P1 FETCH 3", b' b.txt") NIL)', b"\x16\x03\x01"):
        assert read_response([line]) == Stray()
    assert read_response([b"*"]) == Garbled("", None)


def test_a_simple_argument_goes_out_quoted() -> None:
    out = write_command(b"P1", "EXAMINE", [b'box_"urgent"_\\'], literal_plus=False)
    assert out.segments == (b'P1 EXAMINE "box_\\"urgent\\"_\\\\"\r\n',)


def test_an_argument_with_a_line_end_goes_out_as_a_literal_and_ends_no_line() -> None:
    out = write_command(b"P1", "EXAMINE", [b"a\r\nP2 DELETE x"], literal_plus=False)
    assert out.segments == (b"P1 EXAMINE {14}\r\n", b"a\r\nP2 DELETE x\r\n")
    assert out.wait


@given(st.lists(st.binary(max_size=40), max_size=4))
def test_whatever_the_arguments_hold_one_command_stays_one_command(arguments: list[bytes]) -> None:
    out = write_command(b"P1", "X", arguments, literal_plus=True)
    read, octets = [], b"".join(out.segments)
    line, _, rest = octets.partition(b"\r\n")
    pieces: list[bytes | Literal] = [line]
    while (size := announced_literal(line, first=False)) is not None:
        pieces.append(Literal(rest[:size]))
        line, _, rest = rest[size:].partition(b"\r\n")
        pieces.append(line)
    assert rest == b""
    read = tokenize(pieces)
    assert read[2:] == list(arguments)


@given(st.lists(st.one_of(st.binary(max_size=30), st.builds(Literal, st.binary(max_size=30))), min_size=1, max_size=5))
def test_random_octets_raise_nothing_but_a_wire_fault(pieces: list[bytes | Literal]) -> None:
    with contextlib.suppress(WireFault):
        read_response(pieces)


@given(st.sets(st.integers(1, 300), min_size=1))
def test_a_sequence_set_names_each_uid_once_and_ascends(uids: set[int]) -> None:
    named: list[int] = []
    for run in sequence_set(uids).split(","):
        low, _, high = run.partition(":")
        named.extend(range(int(low), int(high or low) + 1))
    assert named == sorted(uids)


def test_an_atom_of_ours_with_a_control_octet_is_a_bug_of_ours() -> None:
    with pytest.raises(ValueError, match="control"):
        write_command(b"P1", "NOOP", [Atom("a\r\nb")], literal_plus=False)


def test_a_status_code_that_never_ends_costs_linear_time() -> None:
    started = time.process_time()
    response = read_response([b"* OK [ALERT" + b" " * 1_000_000])
    assert isinstance(response, Status)
    assert time.process_time() - started < 5  # quadratic work would take hours


def test_a_response_of_many_small_tokens_is_not_taken_apart() -> None:
    assert read_response([b"* 5 FETCH (UID 7 " + b"()" * (MAX_SYNTAX // 2) + b")"]) == Garbled("FETCH", 7)


def test_a_search_answer_may_be_long_and_end_in_a_mod_sequence() -> None:
    numbers = [b"%d" % number for number in range(300_000)]
    response = read_response([b"* SEARCH " + b" ".join(numbers) + b" (MODSEQ 917)"])
    assert response == Untagged("SEARCH", None, list(numbers))


def test_blanks_before_a_response_are_passed_over() -> None:
    assert read_response([b"  * 3 EXISTS "]) == Untagged("EXISTS", 3, [])


def test_a_listed_name_of_several_words_keeps_its_octets_for_those_who_can_read_it() -> None:
    response = read_response([b'* LIST () "/" Sent Items'])
    assert isinstance(response, Garbled)
    assert response.octets == b'() "/" Sent Items'


def test_a_uid_that_cannot_be_is_not_taken_for_one() -> None:
    assert read_response([b"* 3 FETCH (UID 9999999999 FLAGS (("]) == Garbled("FETCH", None)
