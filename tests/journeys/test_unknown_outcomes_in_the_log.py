"""A server that is cut off while it takes a message is in the log once, however often the send is repeated."""

from __future__ import annotations

from pathlib import Path

from aiosmtpd.smtp import SMTP

from tests.servers.dovecot import PASSWORD, Dovecot
from tests.servers.gateway import running_gateway
from tests.servers.smtp import running_smtp


class CutsOff:
    """Has the message, and says nothing any more."""

    async def handle_DATA(self, server: SMTP, session: object, envelope: object) -> str:  # noqa: N802 - aiosmtpd's
        server.transport.abort()
        return "250 2.0.0 kept"


def test_the_repeat_of_a_send_of_unknown_outcome_is_no_new_failure_of_the_server(
    dovecot: Dovecot, tmp_path: Path
) -> None:
    with running_smtp(dovecot.certificate, dovecot.folder / "key.pem", CutsOff()) as port:
        mailboxes = (
            f"  - {{name: work, address: ana@example.org, smtp: {{host: 127.0.0.1, port: {port}, tls: starttls, "
            f"ca_file: {dovecot.certificate}, username: work, password: {PASSWORD}}}}}\n"
        )
        with running_gateway(tmp_path, mailboxes, {"all": ("send", "work")}) as gateway, gateway.http() as client:
            message = {"to": "bo@example.org", "subject": "s", "body_text": "t", "idempotency_key": "one"}
            answers = [client.post("/mailboxes/work/send", json=message).json() for _ in range(3)]
            logged = [line for line in gateway.log.getvalue().splitlines() if "mail.failed" in line]
    assert [one["error"]["details"]["outcome"] for one in answers] == ["unknown"] * 3
    assert len(logged) == 1
    assert '"reason":"None"' not in logged[0]
