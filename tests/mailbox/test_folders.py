"""Folders as people name them, and which one is the Sent folder."""

import pytest

from postroom.imap.commands import Listed, Namespaces
from postroom.mailbox.folders import Folder, read_folders


def listed(*names: bytes, delimiter: str | None = "/") -> list[Listed]:
    return [Listed(name, delimiter, frozenset()) for name in names]


def uses(folders: tuple[Folder, ...]) -> dict[str, str]:
    return {folder.name: folder.special_use for folder in folders if folder.special_use}


def test_inbox_comes_first_in_any_spelling_and_its_children_keep_theirs() -> None:
    folders = read_folders(listed(b"Archive", b"inbox/Sub", b"Inbox"), {})
    assert [folder.name for folder in folders] == ["INBOX", "Archive", "inbox/Sub"]
    assert folders[0].raw == b"Inbox"


def test_attributes_beat_names() -> None:
    given = [Listed(b"Sent", "/", frozenset()), Listed(b"Gesendete Objekte", "/", frozenset({"\\sent"}))]
    assert uses(read_folders(given, {})) == {"Gesendete Objekte": "sent"}


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
    (folder,) = read_folders(listed(name), {})
    assert folder.special_use == use


def test_names_count_only_at_the_root_of_the_personal_namespace() -> None:
    given = listed(b"INBOX", b"INBOX.Sent", b"INBOX.IDN.Sent", b"INBOX.IDN", delimiter=".")
    assert uses(read_folders(given, {}, Namespaces(b"INBOX."))) == {"INBOX": "inbox", "INBOX.Sent": "sent"}
    assert uses(read_folders(listed(b"mail/Sent", b"mail/x/Sent"), {}, Namespaces(b"mail/"))) == {"mail/Sent": "sent"}


def test_the_configuration_has_the_last_word_and_takes_the_use_from_the_others() -> None:
    given = [Listed(b"Sent", "/", frozenset({"\\sent"})), Listed(b"Out", "/", frozenset())]
    assert uses(read_folders(given, {"sent": "Out"})) == {"Out": "sent"}
    assert uses(read_folders(given, {"sent": "no such folder"})) == {"Sent": "sent"}


def test_two_raw_names_that_look_alike_can_both_be_named() -> None:
    folders = read_folders(listed(b"R\xe9", b"R\xe8"), {})
    assert [(folder.name, folder.raw) for folder in folders] == [("R\ufffd", b"R\xe8"), ("R\ufffd (2)", b"R\xe9")]


def test_a_name_with_controls_is_one_line_for_people_and_raw_for_the_server() -> None:
    (folder,) = read_folders(listed(b"a\nb\x1b[31m"), {})
    assert folder.name == "a\ufffdb\ufffd[31m"
    assert folder.raw == b"a\nb\x1b[31m"


@pytest.mark.parametrize("attribute", ["\\noselect", "\\nonexistent"])
def test_what_cannot_be_opened_says_so(attribute: str) -> None:
    (folder,) = read_folders([Listed(b"Shared", "/", frozenset({attribute}))], {})
    assert not folder.selectable


def test_a_folder_told_twice_is_one_and_so_is_inbox_in_two_spellings() -> None:
    given = [Listed(b"INBOX", "/", frozenset({"\\noselect"})), *listed(b"Inbox", b"Work", b"Work")]
    folders = read_folders(given, {})
    assert [(folder.name, folder.selectable) for folder in folders] == [("INBOX", True), ("Work", True)]


def test_a_name_that_looks_like_a_made_up_one_stays_its_own() -> None:
    folders = read_folders(listed(b"X\xe9", b"X\xef\xbf\xbd (2)", b"X\xe8"), {})
    assert len({folder.name for folder in folders}) == 3


def test_folders_of_others_have_no_use_for_the_login() -> None:
    given = [Listed(b"Shared/Sent", "/", frozenset({"\\sent"})), *listed(b"Sent")]
    assert uses(read_folders(given, {}, Namespaces(foreign=(b"Shared/",)))) == {"Sent": "sent"}


def test_the_namespace_may_spell_inbox_otherwise_than_the_list() -> None:
    given = listed(b"Inbox", b"Inbox.Sent", delimiter=".")
    assert uses(read_folders(given, {}, Namespaces(b"INBOX."))) == {"INBOX": "inbox", "Inbox.Sent": "sent"}


@pytest.mark.parametrize(("attribute", "use"), [("\\spam", "junk"), ("\\allmail", "all"), ("\\starred", "flagged")])
def test_the_older_attributes_of_xlist_count_too(attribute: str, use: str) -> None:
    (folder,) = read_folders([Listed(b"F", "/", frozenset({attribute}))], {})
    assert folder.special_use == use
