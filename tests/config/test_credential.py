"""Credentials: each source gives its text, or a sentence without it."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from postroom.base.secret import Secret
from postroom.config.credential import (
    CommandCredential,
    CredentialError,
    EnvironmentCredential,
    FileCredential,
    InlineCredential,
)
from tests.servers.patience import until

pytestmark = pytest.mark.anyio


def python(program: str) -> CommandCredential:
    return CommandCredential((sys.executable, "-c", program))


async def test_an_inline_password_is_itself() -> None:
    assert (await InlineCredential(Secret("a b\n")).reveal()).reveal() == "a b\n"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"pw", "pw"),
        (b"pw\n", "pw"),
        (b"pw\r\n", "pw"),
        (b"pw\n\n", "pw\n"),
        (b" p w \n", " p w "),
        ("pä".encode(), "pä"),
    ],
)
async def test_a_file_gives_its_content_without_one_line_end(tmp_path: Path, content: bytes, text: str) -> None:
    (tmp_path / "pw").write_bytes(content)
    assert (await FileCredential(tmp_path / "pw").reveal()).reveal() == text


async def test_a_file_is_read_anew_each_time(tmp_path: Path) -> None:
    path = tmp_path / "pw"
    for text in ("old", "new"):
        path.write_text(text)
        assert (await FileCredential(path).reveal()).reveal() == text


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "gives nothing"),
        (b"\n", "gives nothing"),
        (b"\xff\xfe", "does not give UTF-8"),
        (b"x" * 65537, "too long"),
    ],
)
async def test_a_file_that_holds_no_secret_is_told(tmp_path: Path, content: bytes, problem: str) -> None:
    (tmp_path / "pw").write_bytes(content)
    with pytest.raises(CredentialError, match=f"{tmp_path}/pw.* {problem}"):
        await FileCredential(tmp_path / "pw").reveal()


async def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(CredentialError, match="nix cannot be read: No such file or directory"):
        await FileCredential(tmp_path / "nix").reveal()


async def test_the_environment_gives_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORK_PASSWORD", "pw")
    assert (await EnvironmentCredential("WORK_PASSWORD").reveal()).reveal() == "pw"
    monkeypatch.setenv("WORK_PASSWORD", "")
    with pytest.raises(CredentialError, match="the environment variable WORK_PASSWORD is not set"):
        await EnvironmentCredential("WORK_PASSWORD").reveal()


async def test_a_command_gives_what_it_prints() -> None:
    assert (await python("print('pw')").reveal()).reveal() == "pw"
    assert (await CommandCredential(("printf", "%s", "$HOME; `x`")).reveal()).reveal() == "$HOME; `x`"


async def test_a_command_may_print_4096_bytes_and_no_more() -> None:
    assert len((await python("print('x' * 4095)").reveal()).reveal()) == 4095
    for program in ("print('x' * 4096)", "while True: print('x' * 4096)"):
        with pytest.raises(CredentialError, match="printed more than 4096 bytes"):
            await python(program).reveal()


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        ("import sys; print('sw0rdfish'); sys.exit(3)", "failed with status 3; run it by hand as this user to see why"),
        ("raise SystemError('sw0rdfish')", "failed with status 1"),
        ("import os; os.kill(os.getpid(), 9)", "failed with status -9"),
        ("pass", "gives nothing"),
        ("import sys; sys.stdout.buffer.write(b'\\xff')", "does not give UTF-8"),
    ],
)
async def test_a_command_that_fails_is_told_without_its_words(program: str, problem: str) -> None:
    with pytest.raises(CredentialError, match=problem) as raised:
        await python(program).reveal()
    assert "sw0rdfish" not in str(raised.value)
    assert "sw0rdfish" not in repr(python(program))


async def test_a_missing_program_is_told_by_its_name() -> None:
    with pytest.raises(CredentialError, match="the command nix cannot be run: No such file"):
        await CommandCredential(("/no/nix",)).reveal()


async def test_a_slow_command_is_ended_with_its_children(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postroom.config.credential._COMMAND_SECONDS", 0.3)
    pipe = tmp_path / "alive"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    script = f"exec 3>{pipe}; echo started >&3; sleep 600 & sleep 600"
    with pytest.raises(CredentialError, match="did not end within"):
        await CommandCredential(("sh", "-c", script)).reveal()
    os.set_blocking(reader, True)
    assert os.read(reader, 100) == b"started\n"
    assert os.read(reader, 100) == b""  # the end of file comes when the last of them has closed the pipe
    os.close(reader)


async def test_a_command_ends_when_nobody_waits_for_it_any_more(tmp_path: Path) -> None:
    pipe = tmp_path / "alive"
    os.mkfifo(pipe)
    command = CommandCredential(("sh", "-c", f"exec 3>{pipe}; echo started >&3; sleep 600 & sleep 600"))
    waiting = asyncio.ensure_future(command.reveal())
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        await until(lambda: heard(reader) == b"started\n")
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await until(lambda: heard(reader) == b"")  # the end of file: nobody has the pipe open any more
    finally:
        os.close(reader)


def heard(reader: int) -> bytes | None:
    """What is in a pipe at this moment; None while somebody may still write to it."""
    try:
        return os.read(reader, 100)
    except BlockingIOError:
        return None


async def test_a_pipe_in_the_place_of_a_file_is_refused_and_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pw")
    with pytest.raises(CredentialError, match="not a plain file"):
        await FileCredential(tmp_path / "pw").reveal()
