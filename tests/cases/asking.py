"""A case's calls made on the running product, over HTTP and over MCP, and what of the answers is not right."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tests.cases.case import Case
from tests.cases.following import streamed, waited_for
from tests.cases.judge import (
    Answer,
    change_faults,
    command_faults,
    error_faults,
    event_faults,
    folder_faults,
    inbox_faults,
    list_faults,
    message_faults,
    number,
    store_faults,
)
from tests.cases.minting import since_cursor
from tests.cases.serving import Served, over_mcp

EVERYTHING = {"view": "full", "fields": "full", "reader": True, "safe_html": True, "headers": True, "links": True}
"""Arguments of get_message for all that there is to judge."""
CHANGES = {
    "mark_seen": "messages/seen",
    "set_labels": "messages/labels",
    "move_messages": "messages/move",
    "delete_message": "messages/delete",
    "create_folder": "folders",
}
"""Operations that change something, with their routes for several messages."""
WHOLE_UIDS = {"move_messages", "delete_message"}
"""Those that take no bare numbers."""
_LARGEST = {"max_chars": 2_000_000}


def listing_faults(case: Case, corpus: Served) -> Iterator[str]:
    """All messages are listed, and each row says what the message says: a list and a read are one parse."""
    for surface, listed in (
        ("http", _over_http(case.id, "list_messages", {}, corpus)),
        ("mcp", _whole_list(case, corpus)),
    ):
        if len(listed["messages"]) != len(case.raw_messages):
            yield f"{surface}: {len(listed['messages'])} rows: {listed}"
        subjects = [row["subject"] for row in listed["messages"]]
        wanted = case.expect.get("subjects", subjects)
        if sorted(subjects, key=str) != sorted(wanted, key=str) or not _contains(subjects, case):
            yield f"{surface}: subjects: {subjects}"


def _contains(subjects: list[str], case: Case) -> bool:
    return set(case.expect.get("subjects_contain", [])) <= set(subjects)


def _whole_list(case: Case, corpus: Served) -> Answer:
    return corpus.gateway.call("list_messages", {"mailbox": case.id, "fields": "full", "limit": 100})


def reading_faults(case: Case, corpus: Served) -> Iterator[str]:
    """Every message read whole on both surfaces, and its files downloaded on both."""
    expect = case.expect if case.kind == "message" else {}
    for row in _over_http(case.id, "list_messages", {}, corpus)["messages"]:
        arguments = {"uid": row["uid"], **EVERYTHING, **_LARGEST}
        by_http = _over_http(case.id, "get_message", arguments, corpus)
        by_mcp = corpus.gateway.call("get_message", {"mailbox": case.id, **arguments})
        for surface, message in (("http", by_http), ("mcp", by_mcp)):
            known = expect if "left_out" not in message else {}
            yield from (f"{surface}: {fault}" for fault in message_faults(message, known))
        yield from _disagreements(row, by_http)
        yield from _file_faults(case, by_http, expect, corpus)


def _disagreements(row: Answer, message: Answer) -> Iterator[str]:
    for key, value in row.items():
        if message[key] != value and not (key == "has_attachments" and value is None):
            yield f"{key} is {value!r} in the list and {message[key]!r} in the message"


def _file_faults(case: Case, message: Answer, expect: Answer, corpus: Served) -> Iterator[str]:
    """Each file has the size that was told for it; those whose hash is known have that hash."""
    hashes = set()
    ids = [attachment["id"] for attachment in message["attachments"][:30]]
    if len(set(ids)) != len(ids):
        yield f"attachment ids are not distinct: {ids}"
    for attachment in message["attachments"][:30]:
        path = f"/mailboxes/{case.id}/messages/{message['uid']}/attachments/{attachment['id']}"
        response = corpus.gateway.get(path)
        if response.status_code != 200 or len(response.content) != attachment["size"]:
            yield f"{attachment['id']}: {response.status_code}, {len(response.content)} octets of {attachment['size']}"
        hashes.add(hashlib.sha256(response.content).hexdigest())
    for key in ("attachments", "attachments_contain"):
        missing = {one["sha256"] for one in expect.get(key, []) if "sha256" in one} - hashes
        if missing:
            yield f"{key}: no file has the hash {missing}"


HEADING = re.compile(r"^## (\d+)-\d+ \[", re.MULTILINE)


def thread_faults(case: Case, corpus: Served) -> Iterator[str]:
    """Each message's conversation is the one that is right, on both surfaces, and so is the list of them."""
    rows = {number(row["uid"]): row for row in _over_http(case.id, "list_messages", {}, corpus)["messages"]}
    wanted = [[int(one) for one in thread] for thread in case.expect.get("threads", [])]
    for thread in wanted:
        for uid in thread:
            by_http = _over_http(case.id, "get_thread", {"uid": rows[uid]["uid"]}, corpus)
            if [number(one["uid"]) for one in by_http["messages"]] != thread:
                yield f"http: {uid}: {[one['uid'] for one in by_http['messages']]}"
            by_mcp = corpus.gateway.call("get_thread", {"mailbox": case.id, "uid": rows[uid]["uid"]})
            if [int(one) for one in HEADING.findall(by_mcp["transcript"])] != thread:
                yield f"mcp: {uid}: {by_mcp['transcript']}"
    by_http = _over_http(case.id, "list_threads", {}, corpus)
    by_mcp = corpus.gateway.call("list_threads", {"mailbox": case.id})
    for surface, listed in (("http", by_http), ("mcp", by_mcp)):
        counted = sorted((number(one["last_message"]["uid"]), one["count"]) for one in listed["threads"])
        if wanted and counted != sorted((thread[-1], len(thread)) for thread in wanted):
            yield f"{surface}: list_threads: {counted}"
        if sum(count for _, count in counted) != len(rows):
            yield f"{surface}: list_threads counts {counted} of {len(rows)}"
    for uid, expect in case.expect.get("messages", {}).items():
        message = _over_http(case.id, "get_message", {"uid": rows[int(uid)]["uid"]}, corpus)
        yield from (f"{uid}: {fault}" for fault in message_faults(message, expect))


def model_faults(case: Case, corpus: Served) -> Iterator[str]:
    """The call that the case makes over MCP with nothing but what it names."""
    (step,) = case.steps
    rows = _over_http(case.id, "list_messages", {}, corpus)["messages"]
    arguments: dict[str, Any] = {"mailbox": case.id, "uid": rows[0]["uid"]}
    if step["operation"] == "get_attachment":
        arguments["attachment_id"] = _over_http(case.id, "get_message", arguments, corpus)["attachments"][0]["id"]
    answer = corpus.gateway.call(step["operation"], arguments)
    octets = len(json.dumps(answer, ensure_ascii=False).encode())
    expect = case.expect
    if octets > expect.get("result_bytes_max", octets):
        yield f"{octets} octets"
    if "error" in expect:
        wanted = {**expect["error"], "details_contain": expect.get("error_details_contain", {})}
        yield from error_faults(answer, wanted)
        return
    if expect.get("untrusted_marked") and next(iter(answer)) != "untrusted":
        yield "does not begin with a notice"
    if "truncated" in expect and answer["truncated"] is not expect["truncated"]:
        yield f"truncated: {answer['truncated']}"
    if "\ufffd" in answer["reader"]:
        yield "a letter was cut in two"


def scripted_faults(case: Case, corpus: Served) -> Iterator[str]:
    """The steps of a case before its scripted server, over HTTP and over MCP before another that plays the same."""
    for surface, mailbox, ask in (("http", case.id, _over_http), ("mcp", over_mcp(case), _over_mcp)):
        answers = [ask(mailbox, step["operation"], _arguments(mailbox, step, corpus), corpus) for step in case.steps]
        player = corpus.players[mailbox]
        if player.connects < case.expect.get("connects_min", 0):
            yield f"{surface}: {player.connects} connections"
        yield from (f"{surface}: {fault}" for fault in _faults_of(case, answers, player.commands))
        yield from (f"{surface}: {fault}" for fault in store_faults(player.store(), case.expect))


def _faults_of(case: Case, answers: list[Answer], commands: list[str]) -> Iterator[str]:
    for position, (step, answer) in enumerate(zip(case.steps, answers, strict=True)):
        is_last = position == len(answers) - 1
        expect = case.expect.get("last", case.expect) if is_last else case.expect
        yield from _answer_faults(step["operation"], answer, expect)
    if "error" in case.expect:
        yield from error_faults(answers[-1], case.expect["error"])
    yield from command_faults(commands, case.expect)


def _arguments(mailbox: str, step: Mapping[str, Any], corpus: Served) -> dict[str, Any]:
    """A step's arguments as the product takes them."""
    arguments = dict(step["args"])
    validity = arguments.pop("uidvalidity", None)
    if validity is None and step["operation"] in WHOLE_UIDS:
        box = corpus.players[mailbox].script.boxes.get(arguments.get("folder", "INBOX"), {})
        validity = box.get("uidvalidity")
    for name in ("uid", "uids"):
        if name in arguments:
            arguments[name] = _spelled(arguments[name], validity)
    if "cursor_state" in arguments:
        state = arguments.pop("cursor_state")
        arguments["since_cursor"] = since_cursor(
            corpus.state_dir, "all", mailbox, state["uidvalidity"], state["last_uid"]
        )
    return arguments


def _spelled(uid: Any, validity: int | None) -> Any:
    """A uid, or a list of them, as lists tell them; what is none stays as it is."""
    if isinstance(uid, list):
        return [_spelled(one, validity) for one in uid]
    if not isinstance(uid, int):
        return uid
    return f"{uid}-{validity}" if validity is not None else str(uid)


def _over_mcp(mailbox: str, operation: str, arguments: Mapping[str, Any], corpus: Served) -> Answer:
    if operation == "watch":
        return waited_for(mailbox, arguments, corpus)
    whole = {"fields": "full"} if operation in ("list_messages", "search", "get_message", "inbox") else {}
    more = {"view": "full"} if operation == "get_message" else {}
    return corpus.gateway.call(operation, {"mailbox": mailbox, **whole, **more, **arguments})


def _over_http(mailbox: str, operation: str, arguments: Mapping[str, Any], corpus: Served) -> Answer:
    if operation == "watch":
        return streamed(mailbox, arguments, corpus)
    box = f"/mailboxes/{mailbox}"
    if operation in CHANGES:
        return _changed_over_http(box, operation, arguments, corpus)
    rest = {name: value for name, value in arguments.items() if name not in ("uid", "mailbox")}
    paths = {
        "list_folders": f"{box}/folders",
        "list_messages": f"{box}/messages",
        "search": f"{box}/search",
        "get_message": f"{box}/messages/{arguments.get('uid')}",
        "get_thread": f"{box}/messages/{arguments.get('uid')}/thread",
        "list_threads": f"{box}/threads",
        "mailbox_stats": f"{box}/stats",
        "inbox": "/inbox",
    }
    if operation == "inbox":
        rest["mailbox"] = mailbox
    query = {name: str(value).lower() if isinstance(value, bool) else value for name, value in rest.items()}
    response = corpus.gateway.get(paths[operation], **query)
    assert response.status_code != 500, response.text
    return dict(response.json())


def _changed_over_http(box: str, operation: str, arguments: Mapping[str, Any], corpus: Served) -> Answer:
    body = dict(arguments)
    path = CHANGES[operation]
    if "uid" in body:
        path = path.replace("messages/", f"messages/{body.pop('uid')}/").removesuffix("/delete")
    with corpus.gateway.http() as client:
        one = operation == "delete_message" and "uid" in arguments
        response = client.delete(f"{box}/{path}", params=body) if one else client.post(f"{box}/{path}", json=body)
    assert response.status_code != 500, response.text
    return dict(response.json())


def _answer_faults(operation: str, answer: Answer, expect: Answer) -> Iterator[str]:
    if "error" in answer:
        if "error" not in expect and "any_of" not in expect:
            yield f"{operation}: {answer}"
    elif operation in CHANGES:
        yield from change_faults(answer, expect)
    elif operation == "list_folders":
        yield from folder_faults(answer, expect)
    elif operation in ("list_messages", "search"):
        yield from list_faults(answer, expect)
    elif operation == "watch":
        yield from event_faults(answer, expect)
    elif operation == "inbox":
        yield from inbox_faults(answer, expect)
    elif operation == "get_message":
        yield from message_faults(answer, expect)
    elif "quota" in expect and answer["quota"] != expect["quota"]:
        yield f"quota: {answer['quota']}"
