"""Every fault that a webhook can have in the configuration, told in its line; and what a sound one comes to."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from ipaddress import ip_network
from pathlib import Path

import pytest

from postroom.base.webhooksecret import fresh_secret
from postroom.config import Config
from postroom.config.credential import EnvironmentCredential, FileCredential

Faults = Callable[..., list[str]]
Load = Callable[..., Config]

SERVERS = "imap: {host: h, username: a, password_env: WORK_PASSWORD}\n    smtp: {host: h}"
SECRET = fresh_secret().reveal()
SOUND = {
    "name": "desk",
    "url": "'https://hooks.example.com/mail'",
    "events": "[message.received]",
    "secret_env": "HOOK",
    "unbound": "true",
}
REST = "policies: {p: {}}\nprofiles: {all: {policy: p}, elsewhere: {policies: {b: p}}}\n"


def written(*hooks: Mapping[str, str | None], servers: str = SERVERS) -> str:
    """A file in which the first webhook is written in line 6."""
    lines = [
        "{" + ", ".join(f"{key}: {value}" for key, value in (SOUND | hook).items() if value is not None) + "}"
        for hook in hooks
    ]
    listed = "".join(f"      - {line}\n" for line in lines)
    boxes = f"mailboxes:\n  - name: a\n    {servers}\n    webhooks:\n{listed}"
    return f"{boxes}  - {{name: b, smtp: {{host: h}}}}\n{REST}"


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"name": None}, ".name: is required, but missing"),
        ({"name": "a b"}, ".name: may hold letters, digits, _ and - only, at most 64"),
        ({"evnts": "[gap]"}, '.evnts: unknown key; did you mean "events"?'),
        ({"events": "[]"}, ".events: must not be empty"),
        (
            {"events": "[message.recieved]"},
            ".events[0]: must be one of message.received, message.flags, message.deleted, mailbox.reset, "
            "mailbox.unreachable, mailbox.recovered, send.outcome, endpoint.disabled, gap; "
            'did you mean "message.received"?',
        ),
        ({"url": "[a]"}, ".url: must be one value, not a list or table"),
        ({"url": "hooks.example.com"}, ".url: must be an https URL, such as https://hooks.example.com/mail"),
        ({"url": "ftp://h"}, ".url: must be an https URL, such as https://hooks.example.com/mail"),
        ({"url": "https://h:0/"}, ".url: must be an https URL, such as https://hooks.example.com/mail"),
        ({"url": "https://h:65536/"}, ".url: must be an https URL, such as https://hooks.example.com/mail"),
        ({"url": "'https://h/a b'"}, ".url: must be an https URL, such as https://hooks.example.com/mail"),
        ({"url": "'https://h\\@i/'"}, ".url: must not hold a user or password; the signature proves who posts"),
        ({"url": "https://u:p@h/"}, ".url: must not hold a user or password; the signature proves who posts"),
        ({"url": "'https://h/#a'"}, ".url: must not have a fragment (#)"),
        ({"url": f"https://h/{'a' * 2000}"}, ".url: must have at most 2,000 characters"),
        ({"url": "https://h./"}, ".url: has a host that cannot be used: the domain must not end with a dot"),
        (
            {"url": "https://127.1/"},
            ".url: an IPv4 address must be written with four decimal numbers, such as 192.0.2.1",
        ),
        ({"url": "'https://[1::2::3]/'"}, ".url: what stands in brackets must be an IPv6 address"),
        ({"url": "https://h:8443/"}, ".url: its port is not permitted; use 443, or add the port to ports"),
        (
            {"url": "http://h:8080/", "allow_private": "[10.0.0.0/8]"},
            ".url: its port is not permitted; use 80, or add the port to ports",
        ),
        (
            {"url": "https://192.0.2.1/", "allow_private": "[10.0.0.0/8]"},
            ".url: a host that is an address is only for networks in allow_private; "
            "use a host name, or add the address to allow_private",
        ),
        (
            {"url": "http://h/"},
            ".url: http is only for networks in allow_private; "
            "use https, or add the receiver's network to allow_private",
        ),
        (
            {"allow_private": "[10.0.0.1/8]"},
            ".allow_private[0]: must be a network such as 10.1.2.0/24, with no bits set past its length",
        ),
        ({"ports": "[0]"}, ".ports[0]: must be at least 1"),
        (
            {"unbound": "false"},
            ": does not say what its receiver may see; give user and profile, or write unbound: true if it may see "
            "everything",
        ),
        ({"user": "ana", "profile": "all"}, ".unbound: does not go with user; keep one of them"),
        ({"unbound": None, "user": "ana"}, ".user: needs profile beside it; add profile: NAME"),
        ({"unbound": None, "profile": "all"}, ".profile: needs user beside it; add user: NAME"),
        (
            {"unbound": None, "user": "ana", "profile": "al"},
            '.profile: there is no such profile; did you mean "all"?',
        ),
        (
            {"unbound": None, "user": "ana", "profile": "elsewhere"},
            ".profile: grants nothing in this mailbox; give the profile a policy for it",
        ),
        (
            {"secret_env": None},
            ": there is no secret; give one of secret_env, secret_file; make one with: postroom webhook secret",
        ),
        ({"secret_file": "hook.secret"}, ".secret_file: secret_env is given too; keep one of them"),
        ({"secret_env": "GONE"}, ".secret_env: this environment variable is not set; set it, or use secret_file"),
        (
            {"previous_secret_env": "GONE"},
            ".previous_secret_env: this environment variable is not set; set it, or use previous_secret_file",
        ),
        (
            {"previous_secret_file": "gone"},
            ".previous_secret_file: there is no such file, or it holds no short text; check path, owner and mode",
        ),
        (
            {"secret_env": "BAD"},
            ".secret_env: the secret cannot be used: it does not begin with whsec_; make one with: postroom webhook "
            "secret",
        ),
        (
            {"previous_secret_env": "HOOK"},
            ".previous_secret_env: another one has the same secret; give each its own; make one with: postroom webhook "
            "secret",
        ),
    ],
)
def test_a_fault_of_a_webhook(faults_of: Faults, tmp_path: Path, changed: Mapping[str, str], fault: str) -> None:
    (tmp_path / "hook.secret").write_text(fresh_secret().reveal())
    told = faults_of(written(changed), HOOK=SECRET, BAD="hunter2-hunter2-hunter2")
    assert told == [f"6: mailboxes[0].webhooks[0]{fault}"]
    assert "hunter2" not in str(told)


@pytest.mark.parametrize("second", [{"secret_env": "SAME"}, {"secret_env": None, "secret_file": "hook.secret"}])
def test_two_webhooks_may_not_share_a_secret_wherever_it_comes_from(
    faults_of: Faults, tmp_path: Path, second: Mapping[str, str | None]
) -> None:
    (tmp_path / "hook.secret").write_text(SECRET)
    key = "secret_file" if "secret_file" in second else "secret_env"
    assert faults_of(written({}, {"name": "other"} | second), HOOK=SECRET, SAME=SECRET) == [
        f"7: mailboxes[0].webhooks[1].{key}: another one has the same secret; give each its own; "
        "make one with: postroom webhook secret"
    ]


def test_a_name_is_unique_in_its_mailbox(faults_of: Faults) -> None:
    other = fresh_secret().reveal()
    assert faults_of(written({}, {"secret_env": "OTHER"}), HOOK=SECRET, OTHER=other) == [
        "7: mailboxes[0].webhooks[1].name: another one has the same; every name must be unique in a mailbox"
    ]


def test_an_event_that_never_comes_from_this_mailbox_is_a_fault(faults_of: Faults) -> None:
    text = written({"events": "[send.outcome, message.received, gap]"}, servers="smtp: {host: h}\n")
    assert faults_of(text, HOOK=SECRET) == [
        "6: mailboxes[0].webhooks[0].events[1]: never comes from a mailbox without imap; remove it, or add imap"
    ]


def test_a_sound_webhook_is_read_whole(load_text: Load, tmp_path: Path) -> None:
    (tmp_path / "before").write_text("whsec_" + base64.b64encode(bytes(24)).decode() + "\n")
    hook = {
        "url": "'https://Bücher.example:8443?a=b'",
        "ports": "[8443]",
        "allow_private": "['10.1.2.3/32', 'fd00::/8']",
        "previous_secret_file": "before",
        "unbound": None,
        "user": "ana",
        "profile": "all",
    }
    (told,) = load_text(written(hook), HOOK=SECRET).mailboxes[0].webhooks
    url = told.url
    assert (url.host, url.port, url.path, url.is_https) == ("xn--bcher-kva.example", 8443, "/?a=b", True)
    assert url.authority == "xn--bcher-kva.example:8443"
    assert told.allow_private == (ip_network("10.1.2.3/32"), ip_network("fd00::/8"))
    assert told.secrets == [EnvironmentCredential("HOOK"), FileCredential(tmp_path / "before")]


@pytest.mark.parametrize("url", ["http://10.1.2.3:8080/", "http://[fd00::1]:8080", "http://localhost:8080/a"])
def test_a_private_receiver_may_be_had_by_http_and_by_address(load_text: Load, url: str) -> None:
    hook = {"url": f"'{url}'", "ports": "[8080]", "allow_private": "[10.1.2.3/32, 'fd00::/8']"}
    (told,) = load_text(written(hook), HOOK=SECRET).mailboxes[0].webhooks
    assert url.startswith(f"http://{told.url.authority}")
