"""Every kind of fault a configuration can have: what is told, and in which line."""

from collections.abc import Callable

import pytest

Faults = Callable[..., list[str]]

HASH = "sha256:" + "0" * 64
IMAP = "imap: {host: h, username: a, password_env: WORK_PASSWORD}"
SCOPES = "read, draft, organize, delete, send, admin"
ONE_OF_PASSWORDS = "password, password_file, password_env, password_command"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("- a", "1: must be a table of keys and values"),
        ("word", "1: must be a table of keys and values"),
        ("\nserver: []", "2: server: must be a table of keys and values"),
        ("mailboxs: []", '1: mailboxs: unknown key; did you mean "mailboxes"?'),
        ("zzzzzz: []", "1: zzzzzz: unknown key"),
        ("'a b\\n': []", "1: 'a b\\\\n': unknown key"),
        ("zzzzzz:", "1: zzzzzz: unknown key"),
        ("store: sqlite\nstore: sqlite", "2: store: given twice, first in line 1; remove one"),
        ("store: mysql", "1: store: must be sqlite, or a postgresql:// URL"),
        ("store: [sqlite]", "1: store: must be one value, not a list or table"),
        (
            "store: postgresql://u:a/b@h/d",
            "1: store: must be such as postgresql://user@host/database; of a password, "
            "write / as %2F, @ as %40, and the like",
        ),
        ("mailboxes: {}", "1: mailboxes: must be a list, such as [one, two]"),
        ("mailboxes: work", "1: mailboxes: must be a list, such as [one, two]"),
        ("state_dir: []", "1: state_dir: must be a path"),
    ],
)
def test_faults_of_the_file_as_a_whole(faults_of: Faults, text: str, fault: str) -> None:
    assert faults_of(text) == [fault]


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ("listen: 8000", "must be host:port, such as 127.0.0.1:8000, or 0.0.0.0:8000 for every address"),
        ("listen: ':8000'", "must be host:port, such as 127.0.0.1:8000, or 0.0.0.0:8000 for every address"),
        ("listen: h:65536", "must be host:port, such as 127.0.0.1:8000, or 0.0.0.0:8000 for every address"),
        ("listen: http://h:80", "must be a host name or an IP address, without port or scheme"),
        ("listen: mail..example:80", "must be a host name or an IP address, without port or scheme"),
        (f"listen: {'a' * 64}.example:80", "must be a host name or an IP address, without port or scheme"),
        ("listen: [a]", "must be one value, not a list or table"),
        ("public_url: mail.example.com", "must be an http or https URL, such as https://mail.example.com"),
        ("public_url: ftp://h", "must be an http or https URL, such as https://mail.example.com"),
        ("public_url: http://u:p@h", "must be an http or https URL, such as https://mail.example.com"),
        ("public_url: http://h:99999", "must be an http or https URL, such as https://mail.example.com"),
        ("allowed_hosts: a", "must be a list, such as [one, two]"),
    ],
)
def test_faults_of_the_server(faults_of: Faults, entry: str, fault: str) -> None:
    key = entry.partition(":")[0]
    assert faults_of(f"server:\n  {entry}") == [f"2: server.{key}: {fault}"]


def test_hosts_and_origins_are_checked_one_by_one(faults_of: Faults) -> None:
    text = "server:\n  allowed_hosts: [ok, http://h, a/b]\n  allowed_origins: [https://ok, ok, https://h/path]"
    host = "must be a host as it stands in a Host header, such as mail.example.com"
    origin = "must be an origin: scheme and host without a path, such as https://app.example.com"
    assert faults_of(text) == [
        f"2: server.allowed_hosts[1]: {host}",
        f"2: server.allowed_hosts[2]: {host}",
        f"3: server.allowed_origins[1]: {origin}",
        f"3: server.allowed_origins[2]: {origin}",
    ]


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ("request_max_bytes: 0", "must be at least 1"),
        ("request_max_bytes: 1.5", "must be a whole number"),
        ("request_max_bytes: 40MB", "must be a whole number"),
        ("sends_per_hour: -1", "must be at least 0"),
        ("moves_per_hour: many", "must be a whole number"),
        ("connect_seconds: 0", "must be more than 0"),
        ("connect_seconds: 9999", "must be at most 3600"),
        ("connect_seconds: nan", "must be a number"),
        ("connect_seconds: soon", "must be a number"),
        ("connect_second: 1", 'unknown key; did you mean "connect_seconds"?'),
    ],
)
def test_faults_of_limits(faults_of: Faults, entry: str, fault: str) -> None:
    assert faults_of(f"limits:\n\n  {entry}") == [f"3: limits.{entry.partition(':')[0]}: {fault}"]


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ("name: wo rk", "name: may hold letters, digits, _ and - only, at most 64"),
        ("name: ''", "name: may hold letters, digits, _ and - only, at most 64"),
        ("address: ana", "address: must be an address, such as ana@example.com"),
        ("address: '*@example.com'", "address: must be an address, such as ana@example.com"),
        ("identities: [ana]", "identities[0]: must be an address, Name <address>, or *@domain"),
        ("identities: ['Ana <*@b>']", "identities[0]: must be an address, Name <address>, or *@domain"),
        ("identities: ['A <a@b']", "identities[0]: must be an address, Name <address>, or *@domain"),
        ("identities: ['a@b>']", "identities[0]: must be an address, Name <address>, or *@domain"),
        ("identities: ['*@']", "identities[0]: must be an address, Name <address>, or *@domain"),
        ("identities: ['@b']", "identities[0]: must be an address, Name <address>, or *@domain"),
        ('identities: ["A\\r\\nBcc: x <a@b>"]', "identities[0]: must be an address, Name <address>, or *@domain"),
        ("identities: [[a]]", "identities[0]: must be one value, not a list or table"),
        ("folders: {snet: x}", 'folders.snet: unknown key; did you mean "sent"?'),
        ("folders: {sent: ''}", "folders.sent: must be one line of 1 to 1000 printable characters"),
        ("files_sent_copy: maybe", "files_sent_copy: must be one of auto, yes, no"),
        ("trusted_hops: 0", "trusted_hops: must be at least 1"),
        ("internal_domains: ['*.x']", "internal_domains[0]: must be a domain, such as example.com"),
        ("descripton: x", 'descripton: unknown key; did you mean "description"?'),
    ],
)
def test_faults_of_a_mailbox(faults_of: Faults, entry: str, fault: str) -> None:
    name = "" if entry.startswith("name") else "name: work\n    "
    text = f"mailboxes:\n  - {IMAP}\n    {name}{entry}\n"
    assert faults_of(text) == [f"{text.count(chr(10))}: mailboxes[0].{fault}"]


def test_a_mailbox_without_name_and_servers_says_so(faults_of: Faults) -> None:
    assert faults_of("mailboxes:\n  - {description: x}") == [
        "2: mailboxes[0].name: is required, but missing",
        "2: mailboxes[0]: a mailbox needs imap, smtp, or both",
    ]


@pytest.mark.parametrize(
    ("entries", "fault"),
    [
        ("port: 0", ".port: must be at least 1"),
        ("port: 65536", ".port: must be at most 65535"),
        ("port: imaps", ".port: must be a whole number"),
        ("prot: 1", '.prot: unknown key; did you mean "port"?'),
        ("tls: sll", '.tls: must be one of ssl, starttls, none; did you mean "ssl"?'),
        ("tls: none", ".tls: none is for this machine only; use ssl or starttls, or write allow_insecure: true"
         " to send the password in the clear"),
        ("allow_insecure: maybe", ".allow_insecure: must be true or false"),
        ("auth: oauth", ".auth: must be one of password, xoauth2, oauthbearer; did you mean \"xoauth2\"?"),
        ("connections: 21", ".connections: must be at most 20"),
        ("connections: 0", ".connections: must be at least 1"),
        ("default_folder: ''", ".default_folder: must be one line of 1 to 1000 printable characters"),
        ("certificate_sha256: abc", ".certificate_sha256: must be the 64 hex digits of the certificate's SHA-256"),
        ("ca_file: none.pem", ".ca_file: there is no such file, or it cannot be read; check path, owner and mode"),
        ("ca_file: postroom.yaml", ".ca_file: it holds no certificate in PEM form; give the authority's PEM file"),
        ("password: x", ".password_env: password is given too; keep one of them"),
        ("password: []", ".password: must be text; quote it if it looks like something else"),
        ("token_file: postroom.yaml", f".token_file: does not go with auth: password; use one of {ONE_OF_PASSWORDS}"),
        ("auth: xoauth2", ".password_env: does not go with this kind of auth; use one of token_file, token_command"),
    ],
)  # fmt: skip
def test_faults_of_a_server(faults_of: Faults, entries: str, fault: str) -> None:
    text = f"mailboxes:\n  - name: a\n    imap:\n      host: h\n      username: a\n      {entries}\n"
    told = faults_of(text + "      password_env: WORK_PASSWORD\n")
    assert (f"6: mailboxes[0].imap{fault}" in told) or (f"7: mailboxes[0].imap{fault}" in told)
    assert len(told) <= 2


@pytest.mark.parametrize(
    ("login", "fault"),
    [
        ("x: 1", f": there is no password; give one of {ONE_OF_PASSWORDS}"),
        ("auth: xoauth2", ": there is no token; give one of token_file, token_command"),
        (
            "password_file: nix",
            ".password_file: there is no such file, or it cannot be read; check path, owner and mode",
        ),
        ("password_env: NIX", ".password_env: this environment variable is not set; set it, or use password_file"),
        ("password_command: [nix]", ".password_command[0]: there is no such program; give its full path"),
        ("password_command: [./nix]", ".password_command[0]: there is no such program; give its full path"),
        ("password_command: []", ".password_command: must name a program, as a list: [program, argument]"),
        ("password_command: cat x", ".password_command: must be a list, such as [one, two]"),
    ],
)
def test_faults_of_a_login(faults_of: Faults, login: str, fault: str) -> None:
    told = faults_of(f"mailboxes: [{{name: a, imap: {{host: h, username: a, {login}}}}}]")
    assert f"1: mailboxes[0].imap{fault}" in told


def test_imap_needs_a_username_and_smtp_does_not(faults_of: Faults) -> None:
    text = "mailboxes:\n  - name: a\n    imap: {host: h, password_env: WORK_PASSWORD}\n    smtp: {host: h}\n"
    assert faults_of(text) == ["3: mailboxes[0].imap.username: is required, but missing"]


def test_smtp_without_a_username_has_no_use_for_a_password(faults_of: Faults) -> None:
    text = "mailboxes: [{name: a, smtp: {host: h, password_env: WORK_PASSWORD}}]"
    assert faults_of(text) == [
        "1: mailboxes[0].smtp.password_env: is of no use without a username; add username, or remove it"
    ]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "'::1'", "127.3.2.1"])
def test_no_tls_is_accepted_for_this_machine(load_text: Callable[..., object], host: str) -> None:
    assert load_text(f"mailboxes: [{{name: a, smtp: {{host: {host}, tls: none}}}}]")
    assert load_text("mailboxes: [{name: a, smtp: {host: h, tls: none, allow_insecure: true}}]")


def test_names_and_hashes_are_unique(faults_of: Faults) -> None:
    text = f"""\
mailboxes:
  - {{name: a, smtp: {{host: h}}}}
  - {{name: b, smtp: {{host: h}}}}
  - {{name: a, smtp: {{host: h}}}}
tokens:
  - {{name: t, token_hash: "{HASH}"}}
  - {{name: t, token_hash: "{HASH}"}}
"""
    assert faults_of(text) == [
        "4: mailboxes[2].name: another one has the same; every name must be unique",
        "7: tokens[1].name: another one has the same; every name must be unique",
        "7: tokens[1].token_hash: another one has the same; every token_hash must be unique",
    ]


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ("scopes: [read, raed]", f'scopes[1]: must be one of {SCOPES}; did you mean "read"?'),
        ("scopes: read", "scopes: must be a list, such as [one, two]"),
        ("mailboxes: [wrok]", 'mailboxes[0]: there is no such mailbox; did you mean "work"?'),
        ("mailboxes: [zzz]", "mailboxes[0]: there is no such mailbox"),
        ("toolset: rely", 'toolset: must be one of mailbox, relay; did you mean "relay"?'),
        ("mailbox: work", "mailbox: belongs to the relay toolset; write mailboxes: [NAME]"),
        ("hash: x", 'hash: unknown key; did you mean "token_hash"?'),
    ],
)  # fmt: skip
def test_faults_of_a_token(faults_of: Faults, entry: str, fault: str) -> None:
    text = f"mailboxes: [{{name: work, {IMAP}}}]\ntokens:\n  - name: t\n    token_hash: '{HASH}'\n    {entry}"
    assert faults_of(text) == [f"5: tokens[0].{fault}"]


@pytest.mark.parametrize("hash_", ["abc", "sha256:abc", "md5:" + "0" * 64, "0" * 64, HASH + "0"])
def test_a_token_hash_has_one_form(faults_of: Faults, hash_: str) -> None:
    assert faults_of(f"tokens:\n  - name: t\n    token_hash: '{hash_}'") == [
        "3: tokens[0].token_hash: must be sha256: and the 64 hex digits of the token's SHA-256"
    ]


def test_a_policy_that_is_misspelt_is_told_too(faults_of: Faults) -> None:
    assert faults_of("policies:\n  p:\n    folder: {}") == [
        '3: policies.p.folder: unknown key; did you mean "folders"?',
    ]


def test_faults_of_every_stage_are_told_together_in_the_order_of_lines(faults_of: Faults) -> None:
    text = """\
server: {listen: nowhere}
mailboxes:
  - name: work
    imap: &again {host: h, prot: 1, username: u, password: swordfish, password_env: NIX}
    wach: [INBOX]
tokens:
  - {name: t, token_hash: swordfish, mailboxes: [wrok]}
server: *again
"""
    told = faults_of(text, mode=0o664)
    assert [fault.partition(": ")[0] for fault in told[2:]] == ["1", "4", "4", "4", "4", "5", "7", "7", "8", "8"]
    assert "others may write to it (mode 0664)" in told[0]
    assert "others may read it (mode 0664)" in told[1]
    assert "swordfish" not in "".join(told)


def test_no_value_is_ever_quoted_in_a_fault(faults_of: Faults) -> None:
    secret = "sw0rdfish"
    for text in (
        f"store: {secret}",
        f"store: postgresql://u:{secret}/@h/d",
        f"store: postgresql://u:{secret}@h@h/d",
        f"server: {{listen: {secret}, public_url: 'http://u:{secret}@h'}}",
        f"limits: {{connect_seconds: {secret}, sends_per_hour: {secret}}}",
        f"mailboxes: {secret}",
        f"mailboxes: [{{name: '{secret} x', imap: {secret}, smtp: [{secret}]}}]",
        f"mailboxes: [{{name: a, imap: {{host: '{secret} x', tls: {secret}, password: {{a: {secret}}}}}}}]",
        f"mailboxes: [{{name: a, imap: {{password_file: {secret}, password_command: [{secret}]}}}}]",
        f"tokens: [{{name: t, token_hash: {secret}, scopes: [{secret}], mailboxes: [{secret}], toolset: {secret}}}]",
        f"a: &x {secret}\nb: : {secret}",
    ):
        assert secret not in "".join(faults_of(text))


def test_a_file_of_another_kind_does_not_flood_the_screen(faults_of: Faults) -> None:
    told = faults_of("".join(f"key{n}: 1\n" for n in range(5000)))
    assert len(told) == 101
    assert told[-1] == "100: 4900 more faults are not shown"
