"""Where a password or an access token comes from; the text itself is fetched when it is needed."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import stat
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from postroom.base.secret import Secret

_COMMAND_SECONDS = 5.0
_LONGEST_OUTPUT = 4096
_LONGEST_FILE = 65536


class CredentialError(Exception):
    """A credential cannot be had; the sentence says which and what to do, and holds nothing secret."""


@dataclass(frozen=True, slots=True)
class InlineCredential:
    """Written in the configuration file itself."""

    text: Secret

    async def reveal(self) -> Secret:
        """The credential."""
        return self.text


@dataclass(frozen=True, slots=True)
class FileCredential:
    """The content of a file without one line end at its end; it is read anew each time."""

    path: Path

    async def reveal(self) -> Secret:
        """The credential; CredentialError if the file cannot be read or is not one short text."""
        return await asyncio.to_thread(self.read)

    def read(self) -> Secret:
        """The same for where nothing may wait: the start, before there is a loop."""
        try:
            data = _read(self.path)
        except OSError as failure:
            raise CredentialError(f"{self.path} cannot be read: {failure.strerror}") from None
        if len(data) > _LONGEST_FILE:
            raise CredentialError(f"{self.path} is too long for a password or token")
        return _text(data, str(self.path))


@dataclass(frozen=True, slots=True)
class EnvironmentCredential:
    """The value of an environment variable."""

    variable: str

    async def reveal(self) -> Secret:
        """The credential; CredentialError if the variable is unset or empty."""
        text = os.environ.get(self.variable)
        if not text:
            raise CredentialError(f"the environment variable {self.variable} is not set")
        return Secret(text)


@dataclass(frozen=True, slots=True)
class CommandCredential:
    """What a program prints, without one line end at its end: run without a shell, 5 seconds, 4 KiB."""

    argv: tuple[str, ...] = field(repr=False)
    """Not shown: an argument may itself be a key."""

    async def reveal(self) -> Secret:
        """The credential; CredentialError if the program fails, is slow, or prints too much or nothing."""
        name = f"the command {Path(self.argv[0]).name}"
        status, output = await self._run(name)
        if len(output) > _LONGEST_OUTPUT:
            raise CredentialError(f"{name} printed more than {_LONGEST_OUTPUT} bytes, not one secret")
        if status != 0:
            raise CredentialError(f"{name} failed with status {status}; run it by hand as this user to see why")
        return _text(output, name)

    async def _run(self, name: str) -> tuple[int, bytes]:
        """Status and output; a program that prints too much is ended."""
        process = await self._started(name)
        try:
            async with asyncio.timeout(_COMMAND_SECONDS):
                output = await _output(process)
                if len(output) <= _LONGEST_OUTPUT:
                    return await process.wait(), output
                await _end(process)
                return 0, output
        except TimeoutError:
            await _end(process)
            raise CredentialError(f"{name} did not end within {_COMMAND_SECONDS:.0f} seconds") from None
        except asyncio.CancelledError:
            await _end(process)
            raise

    async def _started(self, name: str) -> Process:
        """The process. One that nobody waits for any more while it starts is ended, and its children with it."""
        starting = asyncio.ensure_future(self._start(name))
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            with suppress(CredentialError):
                await _end(await starting)
            raise

    async def _start(self, name: str) -> Process:
        try:
            return await asyncio.create_subprocess_exec(
                *self.argv, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL, start_new_session=True
            )
        except OSError as failure:
            raise CredentialError(f"{name} cannot be run: {failure.strerror}") from None


Credential = InlineCredential | FileCredential | EnvironmentCredential | CommandCredential


def _read(path: Path) -> bytes:
    """Links are followed, since containers mount secrets so; a pipe would be waited for without end."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a plain file")
        return file.read(_LONGEST_FILE + 1)


async def _output(process: Process) -> bytes:
    """What it prints, up to one byte more than is allowed."""
    output = b""
    if process.stdout is None:
        return output
    while len(output) <= _LONGEST_OUTPUT and (piece := await process.stdout.read(_LONGEST_OUTPUT + 1)):
        output += piece
    return output


async def _end(process: Process) -> None:
    """Leave nothing running: the program leads a process group of its own, so its children end with it."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


def _text(data: bytes, source: str) -> Secret:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise CredentialError(f"{source} does not give UTF-8 text") from None
    text = text.removesuffix("\n").removesuffix("\r")
    if not text:
        raise CredentialError(f"{source} gives nothing; a password or token was expected")
    return Secret(text)
