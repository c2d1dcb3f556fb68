"""What to do about a server in trouble, where the provider is known or the text comes from elsewhere."""

import pytest

from postroom.base.cause import Cause
from postroom.base.tls import Endpoint
from postroom.imap.faults import LoginFault
from postroom.mailbox.faults import imap_error
from postroom.mailbox.remedies import CERTIFICATE_CAUSES, Scene, remedy


def scene(host: str, side: str = "imap", tls: str = "ssl") -> Scene:
    return Scene(side, Endpoint(host, 993, tls), "password", "password_file")


@pytest.mark.parametrize(
    ("host", "told"),
    [
        ("imap.gmail.com", "Gmail takes app passwords only, not the account's own: make one at "
         "https://myaccount.google.com/apppasswords."),
        ("p03-imap.mail.me.com", "iCloud takes app passwords only, not the account's own: make one at "
         "https://account.apple.com, under Sign-In and Security."),
        ("imap.mail.yahoo.com", "Yahoo takes app passwords only, not the account's own: make one in Yahoo's account "
         "settings, under Security."),
        ("IMAP.Fastmail.com.", "Fastmail takes app passwords only, not the account's own: make one in Fastmail's "
         "settings, under Privacy & Security."),
    ],
)  # fmt: skip
def test_a_provider_that_takes_app_passwords_only_is_known_by_its_host(host: str, told: str) -> None:
    typed = "Check imap.username (often the whole address) and imap.password_file. "
    assert remedy(Cause.LOGIN_WRONG, "login_refused", scene(host)) == typed + told


def test_a_provider_that_takes_no_passwords_is_known_by_its_host() -> None:
    for host in ("outlook.office365.com", "smtp-mail.outlook.com"):
        assert remedy(Cause.LOGIN_UNEXPLAINED, "login_refused", scene(host, "smtp")) == (
            "Microsoft takes no passwords here. Set smtp.auth to xoauth2, and give an access token by "
            "smtp.token_command in place of smtp.password_file."
        )


def test_a_host_that_only_ends_like_a_providers_is_not_one() -> None:
    for host in ("notgmail.com", "gmail.com.example.org"):
        assert "Gmail" not in remedy(Cause.LOGIN_WRONG, "login_refused", scene(host))


def test_a_password_is_never_advised_to_go_in_the_clear_to_another_machine() -> None:
    assert remedy(Cause.NO_STARTTLS, "tls", scene("mail.example.org", tls="starttls")) == (
        "Set imap.tls to ssl and imap.port to 993, if the provider has that. Otherwise do not use this server: the "
        "password would go in the clear."
    )


@pytest.mark.parametrize("cause", Cause)
@pytest.mark.parametrize("side", ["imap", "smtp"])
def test_every_cause_has_a_remedy_of_its_own(cause: Cause, side: str) -> None:
    told = remedy(cause, "tls", scene("mail.example.org", side))
    assert told
    assert "{" not in told
    if cause in CERTIFICATE_CAUSES:
        assert told == f"Check {side}.ca_file and {side}.certificate_sha256."
    else:
        assert told != remedy(None, "tls", scene("mail.example.org", side))


def test_a_caller_is_told_the_cause_and_never_the_servers_words() -> None:
    fault = LoginFault("the provider wants an app password here, not the account's own", Cause.APP_PASSWORD, "said")
    error = imap_error(fault, "work")
    assert error.message == (
        "Mailbox work: the provider wants an app password here, not the account's own. "
        "The operator must make an app password at the provider and configure it."
    )
    assert error.details == {"reason": "login_refused", "mailbox": "work", "retryable": False}
