"""Cases of mail that leaves: each before a scripted submission server of its own, on both surfaces, and judged."""

from __future__ import annotations

import contextlib
import email
import email.policy
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path
from typing import Any, cast

from tests.cases.case import Case
from tests.servers.dovecot import PASSWORD, Dovecot
from tests.servers.gateway import Gateway, running_gateway
from tests.servers.player import ImapPlayer, SmtpPlayer

Answer = dict[str, Any]
SURFACES = ("http", "mcp")
ROUTES = {"send": "send", "reply": "messages/{uid}/reply", "create_draft": "drafts"}
_NAMES = {"body": "body_text", "html": "body_html", "content_base64": "data_base64"}
"""What the corpus calls some arguments, and what they are here."""
_CONFIGURED = ("identity", "aliases", "config")


@dataclass(frozen=True)
class Post:
    """A gateway with a mailbox for each case and surface, and the servers behind it, by mailbox."""

    gateway: Gateway
    smtp: Mapping[str, SmtpPlayer]
    imap: Mapping[str, ImapPlayer]


@contextlib.contextmanager
def posting(cases: Sequence[Case], dovecot: Dovecot, folder: Path) -> Iterator[Post]:
    smtp: dict[str, SmtpPlayer] = {}
    imap: dict[str, ImapPlayer] = {}
    written: list[str] = []
    with contextlib.ExitStack() as stack:
        for case in cases:
            for surface in SURFACES:
                name = mailbox_of(case, surface)
                smtp[name] = stack.enter_context(SmtpPlayer(str(_script(case, "smtp.txt", folder / name / "smtp"))))
                if case.kind == "imap":
                    imap[name] = stack.enter_context(ImapPlayer(str(case.folder)))
                else:
                    dovecot.deliver(name, case.raw_messages)
                written.append(_mailbox(case, name, imap[name].port if name in imap else dovecot.port, smtp[name].port))
        tokens = {"all": ("read, draft, send", ", ".join(smtp))}
        limits = "limits: {connect_seconds: 5, command_seconds: 5}"
        yield Post(stack.enter_context(running_gateway(folder, "".join(written), tokens, limits)), smtp, imap)


def mailbox_of(case: Case, surface: str) -> str:
    return f"{case.id}-{surface}"


def _script(case: Case, name: str, folder: Path) -> Path:
    """The folder of the case's script; without one the server takes everything."""
    if (case.folder / name).exists():
        return case.folder
    folder.mkdir(parents=True)
    (folder / name).write_text("EHLO 8BITMIME|SIZE 10000000\n")
    return folder


def _mailbox(case: Case, name: str, imap_port: int, smtp_port: int) -> str:
    args = case.steps[0]["args"]
    own = [args.get("identity", "agent@example.net"), *args.get("aliases", [])]
    login = "tls: starttls, username: agent, password: s3cret" if "config" in args else "tls: none"
    return (
        f"  - name: {name}\n    identities: [{', '.join(own)}]\n"
        f"    imap: {{host: 127.0.0.1, tls: none, username: {name}, password: {PASSWORD}, port: {imap_port}}}\n"
        f"    smtp: {{host: 127.0.0.1, {login}, port: {smtp_port}}}\n"
    )


def faults(case: Case, surface: str, post: Post) -> Iterator[str]:
    """The case's call, and again with its key if it may have left: what comes of it, and that it leaves once."""
    (step,) = case.steps
    name = mailbox_of(case, surface)
    arguments = _arguments(step, post, name)
    keyed = {} if step["operation"] == "create_draft" else {"idempotency_key": name}
    answer = _ask(post, surface, name, step["operation"], arguments | keyed)
    if keyed and (answer if "outcome" in answer else answer["error"]["details"]).get("outcome") != "rejected":
        for _ in range(2):
            _ask(post, surface, name, step["operation"], arguments | keyed)
    for expect in case.expect.get("any_of", [case.expect]):
        found = list(_judged(expect, answer, post, name))
        if not found:
            return
    yield from found


def _arguments(step: Mapping[str, Any], post: Post, name: str) -> dict[str, Any]:
    given = {_NAMES.get(key, key): value for key, value in step["args"].items() if key not in _CONFIGURED}
    if "attachments" in given:
        given["attachments"] = [{_NAMES.get(k, k): v for k, v in one.items()} for one in given["attachments"]]
    if "uid" in given:
        (row,) = post.gateway.get(f"/mailboxes/{name}/messages").json()["messages"]
        given["uid"] = row["uid"]
    return given


def _ask(post: Post, surface: str, name: str, operation: str, arguments: Mapping[str, Any]) -> Answer:
    if surface == "mcp":
        return post.gateway.call(operation, {"mailbox": name, **arguments})
    body = dict(arguments)
    path = ROUTES[operation].format(uid=body.pop("uid", ""))
    with post.gateway.http() as client:
        return dict(client.post(f"/mailboxes/{name}/{path}", json=body).json())


def _judged(expect: Answer, answer: Answer, post: Post, name: str) -> Iterator[str]:
    sent = post.smtp[name].transactions
    message = _parsed(sent[-1]["data"]) if sent else EmailMessage()
    if "error" in answer and "error" not in expect:
        yield f"error: {answer}"
        return
    checks: dict[str, Callable[[Any], bool]] = {
        "data_count": lambda count: len(sent) == count,
        "connects_with_data_max": lambda most: len({one["connect"] for one in sent}) <= most,
        "rcpt": lambda wanted: bool(sent) and _recipients(sent[-1]) == wanted,
        "rcpt_set": lambda wanted: bool(sent) and set(_recipients(sent[-1])) == set(wanted),
        "accepted": lambda wanted: answer["accepted"] == wanted,
        "refused": lambda wanted: [{key: one[key] for key in wanted[0]} for one in answer["refused"]] == wanted,
        "error": lambda wanted: _is_error(answer, wanted),
        "wire": lambda wanted: all(_WIRE[key](sent[-1]["data"], value) for key, value in wanted.items()),
        "decoded": lambda wanted: all(_DECODED[key](message, value) for key, value in wanted.items()),
        "subject": lambda wanted: message["Subject"] == wanted,
        "headers": lambda wanted: all(" ".join(str(message[key]).split()) == text for key, text in wanted.items()),
        "header_count": lambda wanted: all(len(message.get_all(key, [])) == count for key, count in wanted.items()),
        "header_absent": lambda wanted: not any(key in message for key in wanted),
        "header_addresses": lambda wanted: all(_addresses(message, key) == some for key, some in wanted.items()),
        "to_cc_set": lambda wanted: {*_addresses(message, "To"), *_addresses(message, "Cc")} == set(wanted),
        "attachments": lambda wanted: (
            [len(part.get_payload(decode=True) or b"") for part in message.iter_attachments()]
            == [one["size"] for one in wanted]
        ),
        "commands_must_not": lambda patterns: (
            not any(re.search(pattern, line) for pattern in patterns for line in post.smtp[name].commands)
        ),
        "appended": lambda wanted: _is_appended(post.imap[name], wanted),
        "uid": lambda wanted: answer["uid"].split("-")[0] == str(wanted),
        "uid_any": lambda wanted: (answer["uid"] and int(answer["uid"].split("-")[0])) in wanted,
        "smtp_connections": lambda wanted: post.smtp[name].connects == wanted,
    }
    for key, value in expect.items():
        if key in checks and not checks[key](value):
            yield f"{key}: {answer} {sent} {post.smtp[name].commands}"


def _parsed(octets: bytes) -> EmailMessage:
    return cast("EmailMessage", email.message_from_bytes(octets, policy=email.policy.default))


def _recipients(transaction: Mapping[str, Any]) -> list[str]:
    return [re.sub(r"(?i)^RCPT TO:<(.*)>.*", r"\1", line) for line in transaction["rcpts"]]


def _addresses(message: EmailMessage, field: str) -> list[str]:
    header = message[field]
    return [one.addr_spec.lower() for one in header.addresses] if header is not None else []


def _is_error(answer: Answer, wanted: Mapping[str, Any]) -> bool:
    if "error" not in answer:
        return False
    details = answer["error"]["details"]
    told = {
        "code_any_of": answer["error"]["code"] in wanted.get("code_any_of", []),
        "smtp_code": details.get("smtp_code") == wanted.get("smtp_code"),
        "enhanced": details.get("enhanced_code") == wanted.get("enhanced"),
        "retryable": details.get("retryable") is wanted.get("retryable"),
        "outcome": details.get("outcome") == wanted.get("outcome"),
    }
    return all(told[key] for key in wanted)


def _is_appended(player: ImapPlayer, wanted: Mapping[str, Any]) -> bool:
    filed = player.appends[-1]
    message = _parsed(filed["data"])
    return (
        filed["mailbox"] == wanted["mailbox"]
        and all(flag in filed["flags"] for flag in wanted.get("flags_contain", []))
        and all(message[key] == text for key, text in wanted.get("headers_contain", {}).items())
    )


def _text(message: EmailMessage) -> str:
    body = message.get_body(("plain",))
    return str(body.get_content()).replace("\r\n", "\n").rstrip("\n") if body is not None else ""


_WIRE: Mapping[str, Callable[[bytes, Any], bool]] = {
    "ascii_only": lambda octets, wanted: octets.isascii() is wanted,
    "max_line": lambda octets, most: max(map(len, octets.split(b"\r\n"))) <= most,
    "must": lambda octets, patterns: all(re.search(one.encode(), octets) for one in patterns),
    "must_not": lambda octets, patterns: not any(re.search(one.encode(), octets, re.M) for one in patterns),
    "no_bare_cr": lambda octets, wanted: (re.search(rb"\r(?!\n)", octets) is None) is wanted,
    "no_bare_lf": lambda octets, wanted: (re.search(rb"(?<!\r)\n", octets) is None) is wanted,
}
_DECODED: Mapping[str, Callable[[EmailMessage, Any], bool]] = {
    "subject": lambda message, wanted: message["Subject"] == wanted,
    "text": lambda message, wanted: _text(message) == wanted,
    "text_contains": lambda message, wanted: all(one in _text(message) for one in wanted),
}
