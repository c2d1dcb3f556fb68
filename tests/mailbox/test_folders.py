"""Folders as people name them, and which one is the Sent folder."""

import pytest

from postroom.imap.commands import Listed
from postroom.mailbox.folders import Folder, read_folders


def listed(*names: bytes, delimiter: str | None = "/") -> list[Listed]:
    return [Listed(name, delimiter, frozenset()) for name in names]


def uses(folders: tuple[Folder, ...]) -> dict[str, str]:
    return {folder.name: folder.special_use for folder in folders if folder.special_use}


def test_inbox_comes_first_in_any_spelling_and_its_children_keep_theirs() -> None:
    folders = read_folders(listed(b"Archive", b"inbox/Sub", b"Inbox"), b"", {})
    assert [folder.name for folder in folders] == ["INBOX", "Archive", "inbox/Sub"]
    assert folders[0].raw == b"Inbox"


def test_attributes_beat_names() -> None:
    given = [Listed(b"Sent", "/", frozenset()), Listed(b"Gesendete Objekte", "/", frozenset({"\\sent"}))]
    assert uses(read_folders(given, b"", {})) == {"Gesendete Objekte": "sent"}


@pytest.mark.parametrize(
    ("name", "use"),
    [
        (b"Sent Items", "sent"),
        (b"Entw&APw-rfe", "drafts"),
        (b"&MLQw37Cx-", None),
        (b"&MLQw33ux-", "trash"),
        (b"[Gmail]/Spam", None),
        (b"SPAM", "junk"),
    ],
)
def test_known_names_serve_where_the_server_gives_no_attributes(name: bytes, use: str | None) -> None:
    (folder,) = read_folders(listed(name), b"", {})
    assert folder.special_use == use


def test_names_count_only_at_the_root_of_the_personal_namespace() -> None:
    given = listed(b"INBOX", b"INBOX.Sent", b"INBOX.IDN.Sent", b"INBOX.IDN", delimiter=".")
    assert uses(read_folders(given, b"INBOX.", {})) == {"INBOX": "inbox", "INBOX.Sent": "sent"}
    assert uses(read_folders(listed(b"mail/Sent", b"mail/x/Sent"), b"mail/", {})) == {"mail/Sent": "sent"}


def test_the_configuration_has_the_last_word_and_takes_the_use_from_the_others() -> None:
    given = [Listed(b"Sent", "/", frozenset({"\\sent"})), Listed(b"Out", "/", frozenset())]
    assert uses(read_folders(given, b"", {"sent": "Out"})) == {"Out": "sent"}
    assert uses(read_folders(given, b"", {"sent": "no such folder"})) == {"Sent": "sent"}


def test_two_raw_names_that_look_alike_can_both_be_named() -> None:
    folders = read_folders(listed(b"R\xe9", b"R\xe8"), b"", {})
    assert [(folder.name, folder.raw) for folder in folders] == [("R\ufffd", b"R\xe9"), ("R\ufffd (2)", b"R\xe8")]


def test_a_name_with_controls_is_one_line_for_people_and_raw_for_the_server() -> None:
    (folder,) = read_folders(listed(b"a\nb\x1b[31m"), b"", {})
    assert folder.name == "a\ufffdb\ufffd[31m"
    assert folder.raw == b"a\nb\x1b[31m"


@pytest.mark.parametrize("attribute", ["\\noselect", "\\nonexistent"])
def test_what_cannot_be_opened_says_so(attribute: str) -> None:
    (folder,) = read_folders([Listed(b"Shared", "/", frozenset({attribute}))], b"", {})
    assert not folder.selectable
