"""Policies from the text of a file, and messages to judge by them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from postroom.config.nodes import compose, plain
from postroom.config.schema import ConfigFile
from postroom.mail.authentication import authentication
from postroom.mail.head import parse_head
from postroom.policy.effective import Policy, compile_policy
from postroom.policy.evidence import Evidence

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
MAILBOX = """\
mailboxes:
  - name: work
    address: ana@corp.example
    imap: {host: imap.corp.example, username: ana, password: secret}
    trusted_authserv_ids: [mx.corp.example]
    internal_domains: [corp.example]
"""


def declared(text: str) -> ConfigFile:
    """The file of one mailbox with these further sections."""
    root, faults = compose(MAILBOX + text)
    assert root is not None, faults
    assert not faults
    return ConfigFile.model_validate(plain(root), context={})


def granted(policy: str, *restrictions: str) -> Policy:
    """The policy that a grant and restrictions, each a YAML flow mapping, make together."""
    lines = [f"  r{at}: {one}" for at, one in enumerate(restrictions)]
    names = ", ".join(f"r{at}" for at in range(len(restrictions)))
    text = "\n".join([f"policies:\n  granted: {policy}", *lines])
    file = declared(f"{text}\nprofiles:\n  p: {{policy: granted, restrict: [{names}]}}")
    return compile_policy(file, "p", "work")


def mail(head: str = "", *, age: timedelta = timedelta(days=1), **known: Any) -> Evidence:
    """What a list has at hand of a message with these header lines."""
    parsed = parse_head(head.replace("\n", "\r\n").encode() + b"\r\n")
    told = authentication(parsed.fields, {"mx.corp.example"}, 1)
    at_hand: Mapping[str, Any] = {"size": 1_000, "flags": frozenset(), "received_at": NOW - age, **known}
    return Evidence(head=parsed, now=NOW, authentication=told, **at_hand)
