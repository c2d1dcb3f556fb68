"""Whose files may be trusted: owner and mode of what the gateway reads and of where it writes."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

PRIVATE_UMASK = 0o077
"""For the whole process: nothing it creates is open to others."""


class FileFault(Exception):
    """A file or folder that cannot be used; `problem` is what is wrong, `suggestion` what to do."""

    def __init__(self, path: Path, problem: str, suggestion: str) -> None:
        super().__init__(f"{path}: {problem}; {suggestion}")
        self.path = path
        self.problem = problem
        self.suggestion = suggestion


@dataclass(frozen=True, slots=True)
class GuardedFile:
    """What was read, and the state of the very file that was read: a path may be exchanged, this cannot."""

    data: bytes
    status: os.stat_result


def read_guarded(path: Path, limit: int) -> GuardedFile:
    """A plain file of at most `limit` bytes, never through a symbolic link; FileFault otherwise."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as failure:
        raise _unreadable(path, failure) from None
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise FileFault(path, "is not a plain file", "give the path of a file")
    with open(descriptor, "rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise FileFault(path, f"is larger than {limit} bytes", "give the file that was meant, or split it")
    return GuardedFile(data, status)


def weaknesses(path: Path, status: os.stat_result) -> list[FileFault]:
    """Everything by which another user could change this file: owner, mode, and the folders above it."""
    return [*_owner_faults(path, status), *_mode_faults(path, status), *_folder_faults(path)]


def exposure(path: Path, status: os.stat_result) -> list[FileFault]:
    """Everything by which another user could read this file, for files that hold secrets."""
    mode = stat.S_IMODE(status.st_mode)
    if mode & 0o077 == 0:
        return []
    return [FileFault(path, f"others may read it (mode {mode:04o})", f"run: chmod 600 {path}")]


def private_folder(path: Path, *, checked: bool = True) -> None:
    """Make a folder for this user alone (0700) if there is none; FileFault if it is open to others.

    With `checked` false an existing folder is taken as it is.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = path.stat()
    except OSError as failure:
        raise _unusable(path, failure) from None
    if not checked:
        return
    mode = stat.S_IMODE(status.st_mode)
    faults = [*_owner_faults(path, status), *_folder_faults(path)]
    if mode & 0o077:
        faults.append(FileFault(path, f"is open to others (mode {mode:04o})", f"run: chmod 700 {path}"))
    _raise_first(faults)


def private_file(path: Path, *, checked: bool = True) -> None:
    """Make an empty file for this user alone (0600) if there is none; FileFault if it is open to others.

    With `checked` false an existing file is taken as it is, but never through a symbolic link.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as failure:
        raise _unusable(path, failure) from None
    status = os.fstat(descriptor)
    os.close(descriptor)
    if checked:
        _raise_first([*weaknesses(path, status), *exposure(path, status)])


def new_private_file(path: Path, data: bytes) -> Path:
    """A file of these octets for this user alone (0600), and its path; FileFault if anything is there already."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        raise FileFault(path, "is there already and stays as it is", "move it away, or give another path") from None
    except OSError as failure:
        raise _unusable(path, failure) from None
    with open(descriptor, "wb") as file:
        file.write(data)
    return path


def _owner_faults(path: Path, status: os.stat_result) -> list[FileFault]:
    us = os.geteuid()
    if status.st_uid in (us, 0):
        return []
    problem = f"belongs to user {status.st_uid}, neither to user {us} nor to root"
    return [FileFault(path, problem, f"run postroom as its owner, or: chown {us} {path}")]


def _mode_faults(path: Path, status: os.stat_result) -> list[FileFault]:
    mode = stat.S_IMODE(status.st_mode)
    if mode & 0o022 == 0:
        return []
    return [FileFault(path, f"others may write to it (mode {mode:04o})", f"run: chmod go-w {path}")]


def _folder_faults(path: Path) -> list[FileFault]:
    """Folders above that anyone may write to; the sticky bit, as on /tmp, forbids renaming there."""
    found = []
    for folder in path.absolute().parents:
        mode = folder.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            problem = f"is in {folder}, where anyone may exchange files"
            found.append(FileFault(path, problem, f"run: chmod o-w {folder}"))
    return found


def _raise_first(faults: list[FileFault]) -> None:
    if faults:
        raise faults[0]


def _unreadable(path: Path, failure: OSError) -> FileFault:
    if isinstance(failure, FileNotFoundError):
        return FileFault(path, "does not exist", "create it, or give another path")
    if path.is_symlink():
        return FileFault(path, "is a symbolic link", f"give the path it leads to: {os.path.realpath(path)}")
    return FileFault(path, f"cannot be read: {failure.strerror}", "check its owner and mode")


def _unusable(path: Path, failure: OSError) -> FileFault:
    if path.is_symlink():
        return FileFault(path, "is a symbolic link", f"give the path it leads to: {os.path.realpath(path)}")
    return FileFault(path, f"cannot be created or opened: {failure.strerror}", "check the folder's owner and mode")
