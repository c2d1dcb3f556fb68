"""What of an answer is not as the case says it must be."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any

Answer = dict[str, Any]
Check = Callable[[Answer, Any], bool]

_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_SIGNALS = {
    "alternative_mismatch": {"alternatives_differ"},
    "display_name_spoof": {"display_name_address", "internal_name_external_address"},
}
"""What the corpus calls some signals, and what they are here."""
_BREAKS = re.compile("[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]|[\x00-\x08\x0e-\x1f]")
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def plain(text: str | None) -> str:
    """Line ends as the corpus compares them."""
    return (text or "").replace("\r\n", "\n").rstrip("\n")


def text_faults(name: str, text: str | None, wanted: Answer) -> Iterator[str]:
    shown = plain(text)
    checks: dict[str, Callable[[Any], bool]] = {
        "equals": lambda value: shown == value,
        "contains": lambda value: all(one in shown for one in value),
        "contains_any": lambda value: any(one in shown for one in value),
        "not_contains": lambda value: not any(one in shown for one in value),
        "not_contains_ci": lambda value: not any(one.lower() in shown.lower() for one in value),
        "present": lambda value: (text is not None) is value,
        "not_contains_ranges": lambda ranges: (
            not any(int(low, 16) <= ord(one) <= int(high, 16) for low, high in ranges for one in shown)
        ),
    }
    for operator, value in wanted.items():
        if operator in checks and not checks[operator](value):
            yield f"{name}.{operator}: {shown[:120]!r}"


def _attachment_matches(attachment: Answer, wanted: Answer) -> bool:
    for key, value in wanted.items():
        if key == "filename_regex" and not re.search(value, attachment["filename"] or ""):
            return False
        if key == "size_between" and not value[0] <= attachment["size"] <= value[1]:
            return False
        if key in ("filename", "content_type", "size", "inline", "content_id") and attachment[key] != value:
            return False
    return True


def _signals(message: Answer, wanted: list[str]) -> set[str]:
    names = set[str]().union(*(_SIGNALS.get(name, {name}) for name in wanted))
    return names & set(message["signals"])


def _links(message: Answer, wanted: list[Answer]) -> bool:
    """Those named are there, in this order."""
    rest = iter(message["links"])
    return all(any(_link_matches(link, want) for link in rest) for want in wanted)


def _link_matches(link: Answer, wanted: Answer) -> bool:
    keys = {"href": "href", "host": "host", "host_ascii": "host", "mismatch": "mismatch"}
    exact = all(link[keys[key]] == value for key, value in wanted.items() if key in keys)
    return exact and ("host_any" not in wanted or link["host"] in wanted["host_any"])


def _invitation(message: Answer, wanted: Answer) -> bool:
    invitation = message["invitation"]
    return invitation is not None and all(invitation[key] == value for key, value in wanted.items())


def _attachments(message: Answer, wanted: list[Answer]) -> bool:
    given = message["attachments"]
    return len(given) == len(wanted) and all(map(_attachment_matches, given, wanted))


def _some_attachment(message: Answer, wanted: list[Answer]) -> bool:
    return all(any(_attachment_matches(one, want) for one in message["attachments"]) for want in wanted)


def _addresses(field: str) -> Check:
    return lambda message, wanted: [one["address"] for one in message[field]] == wanted


def _long_enough(message: Answer, size: int) -> bool:
    return bool(message["truncated"]) or abs(len(message["text"]) - size) <= 4


def _values(message: Answer, path: str) -> list[str]:
    field, _, inner = path.partition(".")
    value = message.get(field)
    if isinstance(value, list):
        return [one[inner or "name"] or "" for one in value]
    return [value or ""]


CHECKS: dict[str, Check] = {
    "subject": lambda message, wanted: message["subject"] == wanted,
    "subject_any": lambda message, wanted: message["subject"] in wanted,
    "subject_contains": lambda message, wanted: all(one in message["subject"] for one in wanted),
    "subject_not_contains": lambda message, wanted: not any(one in message["subject"] for one in wanted),
    "from": lambda message, wanted: message["from"] == wanted,
    "to": lambda message, wanted: message["to"] == wanted,
    "cc": lambda message, wanted: message["cc"] == wanted,
    "reply_to": lambda message, wanted: message["reply_to"] == wanted,
    "from_addresses": _addresses("from"),
    "cc_addresses": _addresses("cc"),
    "from_addresses_any": lambda message, wanted: [one["address"] for one in message["from"]] in wanted,
    "date_utc": lambda message, wanted: message["date"] == wanted,
    "date_utc_any": lambda message, wanted: message["date"] in wanted,
    "sort_key_utc": lambda message, wanted: message["received_at"] == wanted,
    "message_id_nonempty": lambda message, wanted: bool(message["message_id"]) is wanted,
    "in_reply_to": lambda message, wanted: [message["in_reply_to"]] == wanted,
    "references_count": lambda message, wanted: len(message["references"]) == wanted,
    "references_first": lambda message, wanted: message["references"][0] == wanted,
    "references_last": lambda message, wanted: message["references"][-1] == wanted,
    "attachments": _attachments,
    "attachments_contain": _some_attachment,
    "attachments_max": lambda message, wanted: len(message["attachments"]) <= wanted,
    "signals_any": lambda message, wanted: bool(_signals(message, wanted)),
    "signals_none": lambda message, wanted: not _signals(message, wanted),
    "links": _links,
    "links_all_mismatch": lambda message, wanted: all(link["mismatch"] for link in message["links"]) is wanted,
    "attribute_text_fenced": lambda message, wanted: wanted not in message["reader"],
    "invite": _invitation,
    "no_invite": lambda message, wanted: (message["invitation"] is None) is wanted,
    "labels_contain": lambda message, wanted: set(wanted) <= set(message["labels"]),
    "system_labels_contain": lambda message, wanted: set(wanted) <= set(message["labels"]),
    "no_bidi_controls": lambda message, wanted: (
        not any(_BIDI.search(text) for path in wanted for text in _values(message, path))
    ),
    "never_return": lambda message, wanted: wanted not in str(message),
    "text_or_attachment_contains": lambda message, wanted: wanted in (message["text"] or ""),
    "text_size_or_truncated": _long_enough,
    "uid": lambda message, wanted: number(message["uid"]) == wanted,
    "one_line": lambda message, wanted: (
        not any(_BREAKS.search(text) for path in wanted for text in _values(message, path))
    ),
    "no_controls": lambda message, wanted: (
        not any(_CONTROLS.search(text) for path in wanted for text in _values(message, path))
    ),
}
"""Keys of expect.json that one message answers."""


def number(uid: str) -> int:
    """The UID of `UID-UIDVALIDITY`."""
    return int(uid.partition("-")[0])


def message_faults(message: Answer, expect: Answer) -> Iterator[str]:
    for key, wanted in expect.items():
        if key in ("text", "html", "reader", "safe_html"):
            yield from text_faults(key, message.get(key), wanted)
        elif key in CHECKS and not CHECKS[key](message, wanted):
            yield f"{key}: wanted {wanted!r}, got {message.get(key.partition('_')[0], message.get(key))!r}"
    yield from always_faults(message)


def always_faults(message: Answer) -> Iterator[str]:
    """What every case expects without saying it."""
    lines = [message["subject"], message["message_id"], *[a["filename"] for a in message.get("attachments", [])]]
    lines += [one[key] for field in ("from", "to", "cc") for one in message[field] for key in ("name", "address")]
    for line in lines:
        if line is not None and _BREAKS.search(line):
            yield f"not one line: {line!r}"
    for body in ("text", "html", "reader", "safe_html"):
        if "\x00" in (message.get(body) or ""):
            yield f"{body} holds U+0000"
    if any(unicodedata.category(letter) == "Cs" for line in lines for letter in line or ""):
        yield "a lone surrogate"


def list_faults(answer: Answer, expect: Answer) -> Iterator[str]:
    rows = answer["messages"]
    subjects = [row["subject"] for row in rows]
    if "list_count" in expect and len(rows) != expect["list_count"]:
        yield f"list_count: {len(rows)}"
    if "subjects" in expect and subjects != expect["subjects"]:
        yield f"subjects: {subjects}"
    if not set(expect.get("subjects_contain", [])) <= set(subjects):
        yield f"subjects_contain: {subjects}"
    if "uids" in expect and [number(row["uid"]) for row in rows] != expect["uids"]:
        yield f"uids: {[row['uid'] for row in rows]}"


def folder_faults(answer: Answer, expect: Answer) -> Iterator[str]:
    given = {folder["name"]: folder for folder in answer["folders"]}
    wanted = expect.get("folders", expect.get("folders_contain", []))
    for folder in wanted:
        found = given.get(folder["name"])
        if found is None or any(found[key] != value for key, value in folder.items()):
            yield f"folder {folder}: {found}"
    count = expect.get("folders_count", len(expect["folders"]) if "folders" in expect else len(given))
    if len(given) != count:
        yield f"folders: {sorted(given)}"


def error_faults(body: Answer, wanted: Answer) -> Iterator[str]:
    error = body.get("error")
    if error is None:
        yield "no error"
        return
    if error["code"] not in wanted.get("code_any_of", [error["code"]]):
        yield f"error.code: {error['code']}"
    for key, value in wanted.get("details_contain", {}).items():
        if error["details"].get(key) != value:
            yield f"error.details.{key}: {error['details']}"
    if "retryable" in wanted and error["details"].get("retryable", False) is not wanted["retryable"]:
        yield f"error.retryable: {error['details']}"


def _is_ascending(command: str) -> bool:
    match = re.match(r"UID \w+ ([\d:*,]+)", command)
    ends = [int(end) for end in re.findall(r"\d+", match[1])] if match else []
    return ends == sorted(set(ends)) or (match is not None and ":*" in match[1])


def command_faults(commands: list[str], expect: Answer) -> Iterator[str]:
    for pattern in expect.get("commands_must", []):
        if not any(re.search(pattern, command) for command in commands):
            yield f"no command like {pattern}: {commands}"
    if expect.get("ascending_sets") and not all(map(_is_ascending, commands)):
        yield f"a set that does not ascend: {commands}"
    for pattern in expect.get("commands_must_not", []):
        if any(re.search(pattern, command) for command in commands):
            yield f"a command like {pattern}: {commands}"


def change_faults(answer: Answer, expect: Answer) -> Iterator[str]:
    """What a change that raised no error tells, as results for each message or as a count with its failures."""
    failed = answer.get("failed", []) or [one for one in answer.get("results", []) if not one["ok"]]
    if expect.get("not_success") and not failed:
        yield f"success: {answer}"
    elif "error" not in expect and "any_of" not in expect and not expect.get("some_fail") and failed:
        yield f"failed: {failed}"
    for code in expect.get("some_fail", []):
        if code not in {one["error"]["code"] for one in failed}:
            yield f"no failure {code}: {failed}"
    for key in ("note_contains", "created", "name"):
        told = answer.get(key.partition("_")[0], "")
        if key in expect and (expect[key] not in told if key == "note_contains" else told != expect[key]):
            yield f"{key}: {told!r}"


def store_faults(store: dict[str, list[str]], expect: Answer) -> Iterator[str]:
    """Where the messages are when all is done, by subject."""
    for key, wanted in expect.get("store_after", {}).items():
        folder = key.removesuffix("_must_contain")
        there = store.get(folder, [])
        fits = set(wanted) <= set(there) if folder != key else sorted(there) == sorted(wanted)
        if not fits:
            yield f"store_after.{key}: {there}"


def event_faults(answer: Answer, expect: Answer) -> Iterator[str]:
    for wanted in expect.get("events_contain", []):
        if wanted not in answer["events"]:
            yield f"no event {wanted}: {answer['events']}"


def inbox_faults(answer: Answer, expect: Answer) -> Iterator[str]:
    subjects = [row["subject"] for row in answer["messages"]]
    if "new_messages" in expect and subjects != expect["new_messages"]:
        yield f"new_messages: {subjects}"
    for wanted in expect.get("any_of", []):
        if "reset" in wanted and (not answer["reset"] or not set(wanted["subjects_contain"]) <= set(subjects)):
            yield f"reset: {answer['reset']}, {subjects}"
