"""Loading: a whole file to frozen values, the order of places, and who may have written it."""

import json
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from postroom.base.secret import Secret
from postroom.config import Auth, Config, ConfigError, Fault, Identity, Listen, Tls, find, load
from postroom.config.credential import (
    CommandCredential,
    EnvironmentCredential,
    FileCredential,
    InlineCredential,
)
from postroom.config.schema import ConfigFile, MailboxConfig, TokenConfig
from postroom.config.servers import ImapConfig

Load = Callable[..., Config]

SMALLEST = """\
mailboxes:
  - name: work
    imap: {host: imap.example.com, username: ana@example.com, password_env: WORK_PASSWORD}
"""
HASH = "sha256:" + "0123456789abcdef" * 4
WHOLE = f"""\
server:
  listen: "[::1]:9000"
  public_url: https://mail.example.com/
  allowed_hosts: [mail.example.com, "mail.example.com:8443"]
  allowed_origins: [https://app.example.com]
state_dir: ./state
store: sqlite
limits:
  mcp_inline_max_bytes: 500000
  request_max_bytes: 20000000
  requests_per_minute: 60
  sends_per_hour: 0
  moves_per_hour: 10
  connect_seconds: 2.5
  command_seconds: 20
  inbox_seconds: 5
mailboxes:
  - name: work
    description: Work mail
    address: ana@example.com
    identities: ["Ana <ana@example.com>", '"Desk, Ana" <desk@example.com>', plain@example.com, "*@ana.example"]
    imap:
      host: imap.example.com
      port: 1993
      tls: ssl
      username: ana@example.com
      password_file: work.pw
      auth: password
      ca_file: null
      certificate_sha256: "{":".join(["AB"] * 32)}"
      connections: 5
      default_folder: Eingang
    smtp: {{host: 127.0.0.1, tls: none}}
    folders: {{sent: Sent, drafts: Drafts, trash: Trash}}
    files_sent_copy: yes
    trusted_authserv_ids: [mx.example.com]
    trusted_hops: 2
    internal_domains: [Example.COM]
    watch: []
    webhooks: []
lists: {{}}
ceiling: {{}}
policies: {{}}
profiles: {{}}
tokens:
  - {{name: script, token_hash: "{HASH.upper().replace("SHA", "sha")}", scopes: [read, draft], mailboxes: [work]}}
  - {{name: nothing, token_hash: "{HASH[:-1]}0"}}
"""


@pytest.fixture
def whole(load_text: Load, tmp_path: Path) -> Config:
    (tmp_path / "work.pw").write_text("swordfish\n")
    return load_text(WHOLE)


def test_the_smallest_file_gets_the_documented_defaults(load_text: Load, tmp_path: Path) -> None:
    config = load_text(SMALLEST)
    (mailbox,) = config.mailboxes
    assert mailbox.imap is not None
    assert (config.server.listen, config.server.public_url) == (Listen("127.0.0.1", 8000), "http://localhost:8000")
    assert (config.state_dir, config.store, config.tokens) == (tmp_path / "state", "sqlite", ())
    assert config.limits.model_dump() == {
        "mcp_inline_max_bytes": 1_000_000,
        "request_max_bytes": 40_000_000,
        "requests_per_minute": 0,
        "sends_per_hour": 100,
        "moves_per_hour": 1000,
        "connect_seconds": 10,
        "command_seconds": 30,
        "requests_at_once": 1000,
        "inbox_seconds": 10,
    }
    assert (mailbox.imap.port, mailbox.imap.tls, mailbox.imap.auth) == (993, Tls.SSL, Auth.PASSWORD)
    assert (mailbox.imap.connections, mailbox.imap.default_folder) == (3, "INBOX")
    assert (mailbox.files_sent_copy, mailbox.trusted_hops, mailbox.smtp) == ("auto", 1, None)
    assert config.insecure_permissions is False


def test_a_file_with_every_key_is_read_into_typed_values(whole: Config, tmp_path: Path) -> None:
    server, (mailbox,) = whole.server, whole.mailboxes
    assert mailbox.imap is not None
    assert mailbox.smtp is not None
    assert server.listen == Listen("::1", 9000)
    assert server.listen.loopback
    assert server.public_url == "https://mail.example.com"
    assert server.allowed_hosts == ("mail.example.com", "mail.example.com:8443")
    assert server.allowed_origins == ("https://app.example.com",)
    assert (whole.limits.connect_seconds, whole.limits.sends_per_hour) == (2.5, 0)
    assert mailbox.identities == (
        Identity("Ana", "ana@example.com"),
        Identity("Desk, Ana", "desk@example.com"),
        Identity(None, "plain@example.com"),
        Identity(None, "*@ana.example"),
    )
    assert [identity.is_pattern for identity in mailbox.identities] == [False, False, False, True]
    assert mailbox.imap.certificate_sha256 == "ab" * 32
    assert mailbox.imap.ca_file is None
    assert mailbox.imap.credential == FileCredential(tmp_path / "work.pw")
    assert (mailbox.smtp.username, mailbox.smtp.credential, mailbox.smtp.port) == (None, None, 25)
    assert (mailbox.files_sent_copy, mailbox.internal_domains) == ("yes", ("example.com",))
    script, nothing = whole.tokens
    assert (script.token_hash, sorted(script.scopes), list(script.mailboxes)) == (HASH, ["draft", "read"], ["work"])
    assert (nothing.scopes, nothing.mailboxes) == (frozenset(), frozenset())


def test_a_configuration_cannot_be_changed(whole: Config) -> None:
    with pytest.raises(ValidationError, match="frozen"):
        whole.store = "other"  # type: ignore[misc]  # mypy sees it too, which is the point
    with pytest.raises(ValidationError, match="frozen"):
        whole.mailboxes[0].name = "other"  # type: ignore[misc]  # as above


@pytest.mark.parametrize(
    ("protocol", "tls", "port"),
    [("imap", "ssl", 993), ("imap", "starttls", 143), ("smtp", "ssl", 465), ("smtp", "starttls", 587)],
)
def test_the_port_follows_from_the_tls_if_it_is_not_given(load_text: Load, protocol: str, tls: str, port: int) -> None:
    login = "username: a, password_env: WORK_PASSWORD"
    config = load_text(f"mailboxes: [{{name: m, {protocol}: {{host: h, tls: {tls}, {login}}}}}]")
    server = config.mailboxes[0].imap or config.mailboxes[0].smtp
    assert server is not None
    assert server.port == port


def test_the_public_url_follows_the_port_if_it_is_not_given(load_text: Load) -> None:
    assert load_text(SMALLEST + "server: {listen: 127.0.0.1:9001}").server.public_url == "http://localhost:9001"
    assert load_text(SMALLEST + "server: {listen: 127.0.0.1:0}").server.listen.port == 0


def test_each_source_of_a_credential_is_known(load_text: Load, tmp_path: Path) -> None:
    (tmp_path / "t").write_text("x")
    (tmp_path / "run").write_text("#!/bin/sh\n")
    (tmp_path / "run").chmod(0o700)
    for login, credential in (
        ("password: 007", InlineCredential(Secret("007"))),
        ("password_env: WORK_PASSWORD", EnvironmentCredential("WORK_PASSWORD")),
        ("password_command: [cat, x]", CommandCredential(("cat", "x"))),
        ("password_command: [./run]", CommandCredential((str(tmp_path / "run"),))),
        ("token_file: t, auth: xoauth2", FileCredential(tmp_path / "t")),
        ("token_command: [cat], auth: oauthbearer", CommandCredential(("cat",))),
    ):
        config = load_text(f"mailboxes: [{{name: m, imap: {{host: h, username: a, {login}}}}}]")
        assert config.mailboxes[0].imap is not None
        assert config.mailboxes[0].imap.credential == credential


@pytest.mark.parametrize(
    ("keys", "own"),
    [
        ("address: x@y.example, identities: [a@b.example]", "x@y.example"),
        ('identities: ["*@c.example", "A <a@b.example>", z@b.example]', "a@b.example"),
        ('identities: ["*@c.example"]', "out@example.com"),
        ("description: none", "out@example.com"),
    ],
)
def test_the_own_address_is_the_first_that_is_known(load_text: Load, keys: str, own: str) -> None:
    imap = "imap: {host: h, username: in@example.com, password_env: WORK_PASSWORD}"
    smtp = "smtp: {host: h, username: out@example.com, password_env: WORK_PASSWORD}"
    config = load_text(f"mailboxes: [{{name: m, {keys}, {imap}, {smtp}}}, {{name: n, {imap}}}]")
    assert [mailbox.own_address for mailbox in config.mailboxes] == [own, "in@example.com"]


def test_no_secret_is_shown_by_a_configuration(load_text: Load) -> None:
    config = load_text(
        "mailboxes: [{name: m, imap: {host: h, username: a, password: swordfish},"
        " smtp: {host: h, username: a, password_command: [cat, swordfish]}}]"
    )
    imap, smtp = config.mailboxes[0].imap, config.mailboxes[0].smtp
    assert imap is not None
    assert smtp is not None
    assert "swordfish" not in repr((config.mailboxes[0].imap, imap.credential, smtp.credential))
    assert isinstance(imap.credential, InlineCredential)
    assert imap.credential.text.reveal() == "swordfish"


def test_the_fingerprint_changes_with_a_setting_but_not_with_a_credential(load_text: Load) -> None:
    def fingerprint(text: str) -> bytes:
        return load_text(text).mailbox("work").fingerprint

    first = fingerprint(SMALLEST)
    assert len(first) == 32
    assert fingerprint(SMALLEST) == first
    assert fingerprint(SMALLEST + "  - name: other\n    smtp: {host: h}\n") == first
    assert fingerprint(SMALLEST.replace("password_env: WORK_PASSWORD", "password: x")) == first
    assert fingerprint(SMALLEST.replace("imap.example.com", "imap2.example.com")) != first
    assert fingerprint(SMALLEST + "    trusted_hops: 2\n") != first
    with pytest.raises(KeyError):
        load_text(SMALLEST).mailbox("other")


def test_a_file_is_looked_for_in_the_documented_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    env = {"POSTROOM_CONFIG": "/from/env.yaml"}
    assert find(Path("given.yaml"), env) == Path("given.yaml")
    assert find(None, env) == Path("/from/env.yaml")
    with pytest.raises(ConfigError, match=r"not found, looked for postroom.yaml and /etc/postroom/postroom.yaml"):
        find(None, {})
    (tmp_path / "postroom.yaml").touch()
    assert find(None, {}) == Path("postroom.yaml")


def test_a_named_file_that_is_missing_is_told_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none.yaml: does not exist; create it, or give another path"):
        load(tmp_path / "none.yaml")


def test_the_error_reads_as_lines_an_editor_can_follow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("postroom.yaml")
    path.write_text(SMALLEST.replace("imap: {", "imap: {prot: 993, ") + "stor: sqlite\n")
    path.chmod(0o600)
    with pytest.raises(ConfigError) as raised:
        load(path, env={"WORK_PASSWORD": "x"})
    assert str(raised.value).splitlines() == [
        'postroom.yaml:3: mailboxes[0].imap.prot: unknown key; did you mean "port"?',
        'postroom.yaml:4: stor: unknown key; did you mean "store"?',
    ]


def test_references_are_not_followed_when_nobody_needs_them(tmp_path: Path) -> None:
    path = tmp_path / "postroom.yaml"
    path.write_text(SMALLEST)
    with pytest.raises(ConfigError, match="environment variable is not set"):
        load(path, env={})
    assert load(path, env={}, check_references=False).mailboxes[0].name == "work"


def test_a_file_that_others_may_write_is_refused(load_text: Load) -> None:
    with pytest.raises(ConfigError, match=r"postroom.yaml: others may write to it \(mode 0662\); run: chmod go-w"):
        load_text(SMALLEST, mode=0o662)
    assert load_text(SMALLEST, mode=0o644)


@pytest.mark.parametrize(
    "text",
    [
        SMALLEST.replace("password_env: WORK_PASSWORD", "password: x"),
        SMALLEST + "\nstore: postgresql://u:x@127.0.0.1/d\n",
        SMALLEST + "\nstore: postgresql://127.0.0.1/d?user=u&password=x\n",
    ],
)
def test_a_file_with_a_password_in_it_is_for_its_owner_alone(load_text: Load, text: str) -> None:
    with pytest.raises(ConfigError, match=r"others may read it \(mode 0640\); run: chmod 600"):
        load_text(text, mode=0o640)
    assert load_text(text, mode=0o600)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "postroom.yaml"
    path.write_text(SMALLEST)
    os.chown(path, 65534, -1)
    with pytest.raises(ConfigError, match="belongs to user 65534"):
        load(path, env={"WORK_PASSWORD": "x"})


def test_permissions_may_be_ignored_on_loopback_only(load_text: Load) -> None:
    config = load_text(SMALLEST, mode=0o666, insecure_permissions=True)
    assert config.insecure_permissions
    for listen in ("0.0.0.0:8000", "192.0.2.1:8000", "'[::]:8000'", "mail.example.com:80"):
        with pytest.raises(ConfigError, match=r"server.listen: --insecure-permissions is for loopback only"):
            load_text(f"{SMALLEST}server: {{listen: {listen}}}", insecure_permissions=True)
    for listen in ("localhost:8000", "127.0.0.9:8000", "'[::1]:8000'"):
        assert load_text(f"{SMALLEST}server: {{listen: {listen}}}", insecure_permissions=True)


def test_a_file_larger_than_a_mebibyte_or_not_utf8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "postroom.yaml"
    path.write_text("# " + "x" * 1_048_576)
    with pytest.raises(ConfigError, match="larger than 1048576 bytes"):
        load(path)
    path.write_bytes(b"a: 1\nb: \xff\n")
    with pytest.raises(ConfigError, match=r"postroom.yaml:2: is not UTF-8 text"):
        load(path)


def test_a_byte_order_mark_and_windows_line_ends_are_read_as_nothing(tmp_path: Path) -> None:
    path = tmp_path / "postroom.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + SMALLEST.replace("\n", "\r\n").encode())
    assert load(path, env={"WORK_PASSWORD": "x"}).mailboxes[0].name == "work"


def outcome(path: Path) -> Sequence[Fault]:
    """The faults of a file, none if it can be loaded."""
    try:
        load(path, env={"WORK_PASSWORD": "x"})
    except ConfigError as error:
        return error.faults or pytest.fail("an error without faults")
    return ()


KEYS = (*ConfigFile.model_fields, *MailboxConfig.model_fields, *ImapConfig.model_fields, *TokenConfig.model_fields)
MARKS = ("[", "]", "{", "}", ": ", ", ", "&x", "*x", "!!int", "- ", "'", '"', " #", "\n", "\n  ", "\n    ", "|", "? ")
VALUES = ("null", "~", "0", "1", "-1", "9e9", "work", "ssl", "none", "read", "a@b", "*@b", "127.0.0.1:0", "sha256:0")
words = st.sampled_from(KEYS).map(lambda key: key + ": ") | st.sampled_from(MARKS + VALUES)
lines = st.lists(words, max_size=30).map("".join) | st.text(max_size=80)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines | lines.map(lambda text: SMALLEST + "    " + text))
def test_any_text_is_a_configuration_or_a_list_of_faults(tmp_path: Path, text: str) -> None:
    path = tmp_path / "postroom.yaml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    told = outcome(path)
    assert all(fault.line <= len(re.split("[\\n\\r\x85\u2028\u2029]", text)) + 4 for fault in told)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(st.sampled_from(tuple(ConfigFile.model_fields)), json_values, max_size=4),
    st.lists(st.dictionaries(st.sampled_from(tuple(MailboxConfig.model_fields)), json_values, max_size=5), max_size=2),
)
def test_any_value_at_any_key_is_judged_without_a_crash(
    tmp_path: Path, top: dict[str, object], mailboxes: list[dict[str, object]]
) -> None:

    path = tmp_path / "postroom.yaml"
    path.write_text(json.dumps({"mailboxes": mailboxes, **top}))
    outcome(path)
