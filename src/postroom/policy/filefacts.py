"""What is known of a part as a file: as it is described, and once it is open by its first octets."""

from __future__ import annotations

from postroom.mail.inside import Inside, Member, look_inside
from postroom.mail.model import Part
from postroom.mail.outgoing.model import OutgoingFile
from postroom.mail.sniff import sniff
from postroom.policy.attachmentrules import PartFacts

_ARCHIVES = frozenset(
    (
        *("application/zip", "application/gzip", "application/x-bzip2", "application/x-xz", "application/zstd"),
        *("application/x-7z-compressed", "application/vnd.rar", "application/x-tar", "application/java-archive"),
    )
)
_ENDINGS = {
    "application/pdf": {"pdf"},
    "image/png": {"png"},
    "image/jpeg": {"jpg", "jpeg", "jpe", "jfif"},
    "image/gif": {"gif"},
    "application/zip": {"zip"},
    "text/csv": {"csv", "txt"},
    "text/calendar": {"ics", "ical", "txt"},
    "message/rfc822": {"eml", "txt"},
}
"""How the names of files of a type end, of types that senders like to feign; others are not compared."""
_TEXTS = frozenset(("text/plain", "text/csv", "text/calendar", "text/html", "message/rfc822"))
"""Types whose text can be had, so that detectors can look through it."""
_DOCUMENTS = ("application/vnd.openxmlformats-officedocument.", "application/vnd.oasis.opendocument.")
_MACROS = ("macroenabled", "application/vnd.ms-office", "application/vnd.ms-word.", "application/vnd.ms-excel.")
_OLD_DOCUMENT = "application/x-ole-storage"
"""Of a container that may hold programs, or be locked: its first octets do not tell."""


def facts_of(part: Part, sniffed: str | None = None, place: int = 0, inside: Inside | None = None) -> PartFacts:
    """What is known of a file: as it is described; by the type `sniffed` that its first octets give away, once they are
    there; and by what is `inside`, once somebody has looked.

    A type that name and octets disagree about is none. What is only described is taken for harmless until it is open.
    """
    kind = _type(part, sniffed)
    closed = _OLD_DOCUMENT in (kind, sniffed)
    return PartFacts(
        name=part.filename,
        type=kind,
        size=part.size,
        ordinal=place,
        is_archive=kind in _ARCHIVES,
        members=_members(inside) if sniffed is not None else (),
        encrypted=None if closed else (inside.encrypted if inside else False),
        macros=None if closed else (inside.macros if inside else _named_for_macros(part)),
        scannable=kind in _TEXTS,
    )


def may_hold_more(sniffed: str) -> bool:
    """Whether a file of this type has to be looked into before anything is known of it."""
    return sniffed == "application/pdf" or sniffed in _ARCHIVES or sniffed.startswith(_DOCUMENTS)


def _members(inside: Inside | None) -> tuple[PartFacts, ...] | None:
    return None if inside is None or inside.members is None else tuple(map(_of_member, inside.members))


def _of_member(member: Member) -> PartFacts:
    name = member.name.rpartition("/")[2]
    described = Part("", member.sniffed, None, "binary", name, False, None, member.size, False)
    return facts_of(described, member.sniffed)


def facts_of_file(file: OutgoingFile, place: int) -> PartFacts:
    """The same of a file that somebody wants to send, all of whose octets are there."""
    part = Part(
        section="",
        content_type=file.content_type.partition(";")[0].strip().lower(),
        charset=None,
        encoding="binary",
        filename=file.filename,
        inline=False,
        content_id=None,
        size=len(file.octets),
        is_body=False,
    )
    sniffed = sniff(file.octets)
    return facts_of(part, sniffed, place, look_inside(file.octets, sniffed) if may_hold_more(sniffed) else None)


def _type(part: Part, sniffed: str | None) -> str | None:
    declared = part.content_type.lower()
    kind = declared if sniffed is None else _agreed(declared, sniffed)
    endings = _ENDINGS.get(kind or "")
    ending = (part.filename or "").rpartition(".")[2].lower()
    return None if endings is not None and ending not in endings else kind


def _agreed(declared: str, sniffed: str) -> str | None:
    """The type by its octets, if its declaration says the same of its kind; texts differ by declaration alone."""
    if sniffed == declared:
        return sniffed
    if sniffed == "text/plain":
        return declared if declared in _TEXTS and declared != "text/html" else None
    if declared.startswith("image/") and sniffed.startswith("image/"):
        return sniffed
    if sniffed == "application/zip" and declared.startswith(_DOCUMENTS):
        return declared
    return None


def _named_for_macros(part: Part) -> bool:
    named = (part.filename or "").lower().endswith((".docm", ".xlsm", ".pptm", ".dotm", ".xlam"))
    return named or part.content_type.lower().startswith(_MACROS) or "macroenabled" in part.content_type.lower()
