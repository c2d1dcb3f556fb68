"""Labels as callers write them to what a server takes: keywords everywhere, Gmail's own labels at Gmail."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from postroom.base.errors import Code, GatewayError, invalid
from postroom.imap.changes import Sign, is_flag
from postroom.mailbox.changing import ChangingFolder

LONGEST_LABEL = 200
_GMAILS_OWN = {"\\Inbox", "\\Starred", "\\Important"}
_GMAILS_FOLDERS = re.compile(r"\[(?:gmail|google mail)\](?:/|\Z)", re.I)
_BACKSLASHES = re.compile(r"\\{2,}")


@dataclass(frozen=True, slots=True)
class Labelling:
    """What to give and to take, in this order: keywords, and labels of Gmail."""

    keywords: tuple[tuple[Sign, tuple[str, ...]], ...]
    gmail: tuple[tuple[Sign, tuple[str, ...]], ...] = ()


def plan_labels(folder: ChangingFolder, add: Sequence[str], remove: Sequence[str]) -> Labelling:
    """How this folder's server does that. Raises `validation_error` or `conflict` before anything is changed."""
    added, removed = _distinct("add", add), _distinct("remove", remove)
    if both := {label.lower() for label in added} & {label.lower() for label in removed}:
        raise invalid("remove", f"has a label that add has too: {min(both)!r}")
    if folder.is_gmail:
        return _at_gmail(folder, added, removed)
    _check_keywords("add", added)
    _check_keywords("remove", removed)
    return Labelling(_pairs(_kept(folder, added), [one for one in removed if folder.keeps(one)]))


def _distinct(argument: str, labels: Sequence[str]) -> list[str]:
    for place, label in enumerate(labels):
        if not label or len(label) > LONGEST_LABEL or not label.isprintable() or label != label.strip():
            raise invalid(f"{argument}[{place}]", f"must be one line of 1 to {LONGEST_LABEL} printable characters")
    return list(dict.fromkeys(labels))


def _check_keywords(argument: str, labels: Iterable[str]) -> None:
    for place, label in enumerate(labels):
        if label.startswith("\\"):
            reason = "begins with a backslash and so is a flag, no label; mark_seen sets \\Seen"
            raise invalid(f"{argument}[{place}]", reason)
        if not is_flag(label):
            reason = 'must be letters, digits and signs of ASCII, without blanks and ( ) { % * " \\ ]'
            raise invalid(f"{argument}[{place}]", reason)


def _kept(folder: ChangingFolder, labels: Sequence[str]) -> Sequence[str]:
    lost = [label for label in labels if not folder.keeps(label)]
    if lost:
        message = f"The server of folder {folder.name!r} keeps no labels of your choice, such as {lost[0]!r}."
        kept = folder.kept_keywords
        raise GatewayError(
            Code.CONFLICT,
            message + (" It keeps: " + ", ".join(kept) + "." if kept else " Move the message to a folder instead."),
            argument="add",
            labels=list(kept),
        )
    return labels


def _at_gmail(folder: ChangingFolder, added: Sequence[str], removed: Sequence[str]) -> Labelling:
    """Keywords begin with a dollar sign there, or were made by other clients; all else is a label."""
    parts = []
    for argument, labels in (("add", added), ("remove", removed)):
        keywords = [label for label in labels if is_flag(label) and _is_keyword(folder, label)]
        others = [_gmails_label(f"{argument}", label) for label in labels if label not in keywords]
        parts.append((keywords, others))
    (keywords, labels), (old_keywords, old_labels) = parts
    return Labelling(_pairs(_kept(folder, keywords), old_keywords), _pairs(labels, old_labels))


def _is_keyword(folder: ChangingFolder, label: str) -> bool:
    return label.startswith("$") or label in folder.kept_keywords


def _gmails_label(argument: str, label: str) -> str:
    """Gmail moves away what is labelled as trash or spam; nothing that does so is a label here."""
    label = _BACKSLASHES.sub(r"\\", label)
    if label.startswith("\\"):
        own = {one.lower(): one for one in _GMAILS_OWN}.get(label.lower())
        if own is None:
            raise invalid(
                argument, f"cannot hold {label!r}; of Gmail's own labels only {', '.join(sorted(_GMAILS_OWN))}"
            )
        return own
    if _GMAILS_FOLDERS.match(label):
        raise invalid(argument, f"cannot hold {label!r}, a folder of Gmail's own; use move_messages or delete_message")
    return label


def _pairs(add: Collection[str], remove: Collection[str]) -> tuple[tuple[Sign, tuple[str, ...]], ...]:
    pairs: list[tuple[Sign, tuple[str, ...]]] = [("+", tuple(add)), ("-", tuple(remove))]
    return tuple((sign, names) for sign, names in pairs if names)
