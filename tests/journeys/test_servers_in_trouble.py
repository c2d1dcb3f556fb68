"""Mailboxes that are down, insist on TLS or refuse the password, beside those that work."""

import pytest

from tests.servers.gateway import Gateway


def health(gateway: Gateway) -> dict[str, dict[str, object]]:
    return {entry["mailbox"]: entry for entry in gateway.get("/health/mailboxes").json()["mailboxes"]}


def test_a_mailbox_that_is_down_says_so_and_takes_no_other_with_it(gateway: Gateway) -> None:
    failed = gateway.get("/mailboxes/down/messages")
    assert failed.status_code == 502
    assert failed.json()["error"]["details"]["reason"] == "refused"
    assert gateway.get("/mailboxes/work/messages", limit=1).status_code == 200


def test_a_server_that_insists_on_starttls_is_read_behind_it_with_a_pinned_certificate(gateway: Gateway) -> None:
    messages = gateway.get("/mailboxes/strict/messages", limit=500).json()["messages"]
    assert "Behind STARTTLS" in [row["subject"] for row in messages]


def test_a_mailbox_that_can_only_send_is_a_conflict_for_who_wants_to_read(gateway: Gateway) -> None:
    failed = gateway.get("/mailboxes/sending/messages")
    assert failed.status_code == 409
    assert failed.json()["error"]["code"] == "conflict"


def test_health_tells_each_side_of_each_mailbox(gateway: Gateway) -> None:
    told = health(gateway)
    fine = {"ok": True, "error": None}
    assert told["work"] == {"mailbox": "work", "imap": fine, "smtp": fine}
    assert told["strict"] == {"mailbox": "strict", "imap": fine, "smtp": None}
    for side, code in (("imap", "imap_error"), ("smtp", "smtp_error")):
        fault = told["down"][side]
        assert isinstance(fault, dict)
        assert (fault["ok"], fault["error"]["code"]) == (False, code)
        assert fault["error"]["details"]["reason"] == "refused"
    refused = told["sending"]["smtp"]
    assert isinstance(refused, dict)
    assert refused["error"]["details"] == {"reason": "login_refused", "mailbox": "sending", "retryable": False}
    assert told["sending"]["imap"] is None


def test_folders_with_odd_names_can_be_opened_over_http(gateway: Gateway) -> None:
    for name, subject in (
        ("R&D", "In a folder with an ampersand"),
        ("日本語", "In a Japanese folder"),
        ('quo"te', "In a quoted folder"),
    ):
        (row,) = gateway.get("/mailboxes/work/messages", folder=name).json()["messages"]
        assert row["subject"] == subject
        assert gateway.get(f"/mailboxes/work/messages/{row['uid']}", folder=name).json()["folder"] == name


def test_a_folder_that_does_not_exist_names_the_nearest_and_those_that_do(gateway: Gateway) -> None:
    error = gateway.get("/mailboxes/work/messages", folder="Snt").json()["error"]
    assert error["code"] == "not_found"
    assert "Sent" in error["message"]
    assert "INBOX" in error["details"]["folders"]


def test_a_stale_uid_is_told_from_one_that_never_was(gateway: Gateway) -> None:
    (row,) = gateway.get("/mailboxes/work/messages", limit=1).json()["messages"]
    uid, _, validity = row["uid"].partition("-")
    stale = gateway.get(f"/mailboxes/work/messages/{uid}-{int(validity) + 1}").json()["error"]
    assert (stale["code"], stale["details"]["reason"]) == ("not_found", "uidvalidity_changed")
    never = gateway.get(f"/mailboxes/work/messages/999999-{validity}").json()["error"]
    assert never["code"] == "not_found"
    assert "reason" not in never["details"]


def test_each_of_several_uids_has_its_fate(gateway: Gateway) -> None:
    rows = gateway.get("/mailboxes/work/messages", limit=2).json()["messages"]
    uids = [rows[0]["uid"], "999999", rows[1]["uid"], "5-1"]
    with gateway.http() as client:
        answer = client.post("/mailboxes/work/messages/read", json={"uids": uids, "view": "text"}).json()
    assert [message["uid"] for message in answer["messages"]] == uids
    assert [message.get("error", {}).get("code") for message in answer["messages"]] == [
        None,
        "not_found",
        None,
        "not_found",
    ]


def test_no_secret_and_no_mail_is_in_the_log(gateway: Gateway) -> None:
    gateway.get("/mailboxes/work/messages")
    log = gateway.log.getvalue()
    for word in ("correct-horse", "Message 2000", "ana@example.org", *gateway.tokens.values()):
        assert word not in log


@pytest.mark.parametrize(("path", "tool"), [("/inbox", "inbox"), ("/health/mailboxes", "health_check")])
def test_a_failure_that_an_answer_names_is_in_the_log_too(gateway: Gateway, path: str, tool: str) -> None:
    before = len(gateway.log.getvalue())
    assert gateway.get(path).status_code == 200
    logged = [line for line in gateway.log.getvalue()[before:].splitlines() if "mail.failed" in line]
    assert any(tool in line and "down" in line for line in logged)
