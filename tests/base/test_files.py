"""Whose files are trusted: the checks of owner, mode and the folders above."""

import os
from pathlib import Path

import pytest

from postroom.base.files import FileFault, exposure, private_file, private_folder, read_guarded, weaknesses

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "postroom.yaml"
    path.write_bytes(b"store: sqlite\n")
    path.chmod(0o600)
    return path


def told(path: Path) -> list[str]:
    return [fault.problem for fault in weaknesses(path, path.stat())]


def test_a_file_is_read_with_the_state_it_had_when_it_was_open(file: Path) -> None:
    guarded = read_guarded(file, 100)
    assert guarded.data == b"store: sqlite\n"
    assert guarded.status.st_ino == file.stat().st_ino


def test_a_file_of_exactly_the_limit_is_read_and_one_byte_more_is_not(file: Path) -> None:
    assert read_guarded(file, 14).data == b"store: sqlite\n"
    with pytest.raises(FileFault, match="larger than 13 bytes"):
        read_guarded(file, 13)


def test_a_symbolic_link_is_not_followed_and_its_end_is_named(file: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.yaml"
    link.symlink_to(file)
    with pytest.raises(FileFault, match=f"symbolic link; give the path it leads to: {file}"):
        read_guarded(link, 100)


def test_a_missing_file_a_folder_and_a_pipe_are_told_apart(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, problem in (("none", "does not exist"), ("", "not a plain file"), ("pipe", "not a plain file")):
        with pytest.raises(FileFault, match=problem):
            read_guarded(tmp_path / name, 100)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o400])
def test_a_file_that_others_may_only_read_is_no_weakness(file: Path, mode: int) -> None:
    file.chmod(mode)
    assert told(file) == []


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_is_a_weakness(file: Path, mode: int) -> None:
    file.chmod(mode)
    assert told(file) == [f"others may write to it (mode {mode:04o})"]


@as_root
def test_a_file_of_another_user_is_a_weakness(file: Path) -> None:
    os.chown(file, 65534, -1)
    assert told(file) == ["belongs to user 65534, neither to user 0 nor to root"]


@pytest.mark.parametrize(("mode", "weak"), [(0o777, True), (0o757, True), (0o1777, False), (0o775, False)])
def test_a_folder_above_that_all_may_write_to_is_a_weakness_unless_sticky(
    tmp_path: Path, mode: int, weak: bool
) -> None:
    folder = tmp_path / "open" / "inner"
    folder.mkdir(parents=True)
    (folder / "file").touch(0o600)
    folder.parent.chmod(mode)
    expected = [f"is in {folder.parent}, where anyone may exchange files"] if weak else []
    assert told(folder / "file") == expected


@pytest.mark.parametrize(("mode", "exposed"), [(0o600, False), (0o400, False), (0o640, True), (0o604, True)])
def test_a_file_with_secrets_is_for_its_owner_alone(file: Path, mode: int, exposed: bool) -> None:
    file.chmod(mode)
    assert [fault.suggestion for fault in exposure(file, file.stat())] == [f"run: chmod 600 {file}"] * exposed


def test_a_private_folder_is_made_for_this_user_alone(tmp_path: Path) -> None:
    private_folder(tmp_path / "state")
    assert (tmp_path / "state").stat().st_mode & 0o777 == 0o700
    private_folder(tmp_path / "state")


def test_a_folder_open_to_others_is_refused_unless_nobody_asks(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    folder.mkdir()
    folder.chmod(0o750)
    with pytest.raises(FileFault, match=r"open to others \(mode 0750\); run: chmod 700"):
        private_folder(folder)
    private_folder(folder, checked=False)


def test_a_file_in_the_place_of_a_folder_is_told(file: Path) -> None:
    with pytest.raises(FileFault, match="cannot be created or opened: File exists"):
        private_folder(file)


def test_a_private_file_is_made_for_this_user_alone_and_keeps_its_content(tmp_path: Path) -> None:
    path = tmp_path / "db"
    private_file(path)
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_bytes(b"kept")
    private_file(path)
    assert path.read_bytes() == b"kept"


def test_a_private_file_that_others_may_read_is_refused_unless_nobody_asks(file: Path) -> None:
    file.chmod(0o640)
    with pytest.raises(FileFault, match="others may read it"):
        private_file(file)
    private_file(file, checked=False)


def test_a_private_file_is_never_a_link(file: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(file)
    with pytest.raises(FileFault, match="symbolic link"):
        private_file(tmp_path / "link", checked=False)
