"""`postroom webhook`: secrets, a receiver tried out, how endpoints do, and one that is enabled again."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from standardwebhooks import Webhook

from postroom.base.secret import Secret
from postroom.base.webhooksecret import fresh_secret, signing_key
from postroom.cli import main
from postroom.store import endpoints
from postroom.store.database import FILE_NAME, Database
from postroom.store.deliveries import Due, enqueue
from postroom.store.endpoints import Registered
from tests.servers.ports import refusing_port
from tests.servers.receiver import receiving_thread, status

Run = Callable[..., Result]
SECRET = fresh_secret().reveal()


@pytest.fixture(autouse=True)
def _keep_the_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def over(folder: Path, port: int = 443, **changed: str) -> Run:
    """Runs a command over a configuration with one webhook at that port of this machine."""
    hook = {
        "name": "desk",
        "url": f"'http://127.0.0.1:{port}/hook?key=path-is-a-secret'",
        "events": "[send.outcome]",
        "secret_file": "hook.secret",
        "unbound": "true",
        "ports": f"[{port}]",
        "allow_private": "[127.0.0.1]",
    }
    told = ", ".join(f"{key}: {value}" for key, value in (hook | changed).items())
    (folder / "hook.secret").write_text(SECRET)
    path = folder / "postroom.yaml"
    path.write_text(
        "server: {listen: '127.0.0.1:18000'}\n"
        f"mailboxes:\n  - name: work\n    smtp: {{host: 127.0.0.1}}\n    webhooks:\n      - {{{told}}}\n"
    )
    path.chmod(0o600)

    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(main, arguments, env={"POSTROOM_CONFIG": str(path)})

    return invoke


def test_a_secret_is_fresh_each_time_and_of_the_form_that_the_configuration_wants() -> None:
    told = {CliRunner().invoke(main, ["webhook", "secret"]).output for _ in range(3)}
    assert len(told) == 3
    assert all(len(signing_key(Secret(one.strip()))) == 32 for one in told)


def test_trying_out_posts_one_signed_event_and_says_that_it_was_taken(tmp_path: Path) -> None:
    with receiving_thread(lambda _: status(200, body=b"got it")) as receiver:
        result = over(tmp_path, receiver.port)("webhook", "test", "work", "desk")
    where = f"127.0.0.1:{receiver.port}"
    assert (result.exit_code, result.output) == (
        0,
        f'Delivered to {where}: it answered 200.\n  The receiver says: "got it"\n',
    )
    (post,) = receiver.posts
    told = Webhook(SECRET).verify(post.body, dict(post.headers))
    assert (told["type"], told["data"]) == ("webhook.test", {"mailbox": "work"})


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        (302, "No redirect is followed: give the final address as url."),
        (
            401,
            "The receiver does not accept the signature: check that it has the same secret, and reads the body "
            "unchanged.",
        ),
        (404, "There is nothing at this path: check the url."),
        (410, "The receiver wants nothing any more; an event that is answered so disables the webhook."),
        (500, "Only a status of 200 to 299 counts as delivered; the receiver's log may say more."),
    ],
)
def test_a_refusal_comes_with_what_to_look_at(tmp_path: Path, code: int, advice: str) -> None:
    with receiving_thread(lambda _: status(code)) as receiver:
        result = over(tmp_path, receiver.port)("webhook", "test", "work", "desk")
    told = f"Not delivered to 127.0.0.1:{receiver.port}: it answered {code}.\n{advice}\n"
    assert (result.exit_code, result.output) == (1, told)


@pytest.mark.parametrize(
    ("port", "why"),
    [
        (refusing_port(), "no connection: nobody accepts it on this port"),
        (18000, "nothing was sent: that is where this gateway itself listens"),
    ],
)
def test_nobody_there_is_said_in_words(tmp_path: Path, port: int, why: str) -> None:
    result = over(tmp_path, port)("webhook", "test", "work", "desk")
    assert result.exit_code == 1
    assert result.output.splitlines()[0] == f"Not delivered to 127.0.0.1:{port}: {why}."
    assert SECRET.removeprefix("whsec_") not in result.output
    assert "path-is-a-secret" not in result.output


@pytest.mark.parametrize("command", ["test", "enable"])
def test_a_name_that_is_not_there_is_guessed(tmp_path: Path, command: str) -> None:
    run = over(tmp_path)
    for arguments, told in (
        (("wrk", "desk"), 'there is no mailbox "wrk"; did you mean "work"?\n'),
        (("work", "desc"), 'mailbox work has no webhook "desc"; did you mean "desk"?\n'),
        (("work", "zzzz"), 'mailbox work has no webhook "zzzz"; there are: desk\n'),
    ):
        result = run("webhook", command, *arguments)
        assert (result.exit_code, result.output) == (1, told)


def test_the_list_says_how_an_endpoint_does_and_enabling_begins_anew(tmp_path: Path) -> None:
    run, place = over(tmp_path), ("work", "desk")
    at = datetime(2026, 3, 3, 9, 0, tzinfo=UTC)

    def row() -> list[str]:
        lines = run("webhook", "list").output.splitlines()
        assert lines[0].split() == ["MAILBOX", "NAME", "STATE", "WAITING", "HOST", "SEES"]
        assert lines[1].startswith("work     desk  ")
        return [word.strip() for word in lines[1].split("  ") if word.strip()][2:]

    async def done(*steps: Callable[..., object]) -> None:
        database = await Database.open(tmp_path / "state" / FILE_NAME)
        for step in steps:
            await database.write(step)
        await database.close()

    assert row() == ["well", "0", "127.0.0.1:443", "everything"]
    known = [Registered(*place, "", gaps=True)]
    asyncio.run(
        done(
            lambda db: endpoints.register(db, known, at),
            lambda db: enqueue(db, [Due(*place, "send.outcome", "{}")] * 3, at),
            lambda db: endpoints.failing(db, place, at),
        )
    )
    assert row()[0] == "failing since 2026-03-03 09:00"
    assert row()[1] == "3"
    asyncio.run(done(lambda db: endpoints.disable(db, place, "gone", at)))
    assert row()[0] == "disabled since 2026-03-03 09:00"
    assert row()[1] == "0"
    told = run("webhook", "enable", *place).output
    assert told.startswith("It is told of what happens from now on;")
    assert row()[0] == "well"
    assert run("webhook", "enable", *place).output == "It was not disabled; that it failed is forgotten.\n"
    with closing(sqlite3.connect(tmp_path / "state" / FILE_NAME)) as connection:
        lines = [json.loads(line) for (line,) in connection.execute("SELECT line FROM audit ORDER BY seq")]
    assert [(one["action"], one["mailbox"], one["facts"]["endpoint"]) for one in lines] == [
        ("webhook.disabled", "work", "desk"),
        ("cli.webhook.enable", "work", "desk"),
        ("cli.webhook.enable", "work", "desk"),
    ]
    assert run("audit", "verify").exit_code == 0


def test_a_configuration_without_webhooks_says_so(tmp_path: Path) -> None:
    (tmp_path / "postroom.yaml").write_text("{}\n")
    result = CliRunner().invoke(main, ["webhook", "list"], env={"POSTROOM_CONFIG": str(tmp_path / "postroom.yaml")})
    assert result.output == "The configuration has no webhook.\n"
