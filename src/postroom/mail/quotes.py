"""For telling a message's new words from the history that is quoted below, above or between them."""

from __future__ import annotations

import re
from collections.abc import Sequence

_CONTEXT = 4
"""Quoted lines that stay before an answer which is written under them: without them it could not be understood."""
_ATTRIBUTION_LINES = 3
"""Lines over which mailers wrap the line that says who wrote what follows."""
_LONGEST_ATTRIBUTION = 400

_WROTE = re.compile(
    r"(?:\b(?:wrote|writes|schrieb|schreibt|a écrit|écrit|escribió|ha scritto|scrive|escreveu|schreef|skrev|kirjoitti"
    r"|napisał|napisała|napsal|napsala|írta|a scris|yazdı|написал|написала|пише|писал|писав)\b.{0,120}"
    r"|写道|寫道|のメッセージ|が書きました|님이 작성)\s*[:：]\s*$",
    re.IGNORECASE,
)
_DATED = re.compile(r"\d")
_BEGINS = re.compile(
    r"\s*(?:on|am|le|el|il|em|op|w dniu|den|dne|på|na|на|в|\d|[\w.,]{1,20} \d|.{1,80}<\S{1,200}@\S{1,200}>)",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(
    r"^\s*-{2,}\s*(?:original message|original-nachricht|ursprüngliche nachricht|message d'origine|mensaje original"
    r"|messaggio originale|mensagem original|oorspronkelijk bericht|oryginalna wiadomość|исходное сообщение)"
    r"\s*-{2,}\s*$",
    re.IGNORECASE,
)
_RULE = re.compile(r"^\s*(?:_{8,}|-{8,}|—{4,}|\*{8,})\s*…?\s*$")
_FROM = "from|von|de|da|van|od|fra|från|lähettäjä|от|发件人|寄件者|差出人|보낸 사람"
_SENT = (
    "sent|date|gesendet|datum|envoyé|enviado|data|inviato|verzonden|wysłano|sendt|skickat|отправлено|дата|发送时间"
    "|送信日時"
)
_TO = "to|an|à|para|a|aan|do|til|till|кому|收件人|宛先"
_SUBJECT = "subject|betreff|objet|asunto|oggetto|assunto|onderwerp|temat|emne|ämne|тема|主题|件名"
_HEADER_LINE = {
    name: re.compile(rf"^\s*\*{{0,2}}(?:{words})\s?\*{{0,2}}[:：]\*{{0,2}}\s", re.IGNORECASE)
    for name, words in (("from", _FROM), ("sent", _SENT), ("to", _TO), ("subject", _SUBJECT))
}
_BLOCK = 8
"""Lines within which a header block of Outlook's kind has all its parts."""
_FORWARDED = re.compile(
    r"^(?:\s*-{3,}\s*(?:forwarded message|weitergeleitete nachricht|message transféré|mensaje reenviado"
    r"|messaggio inoltrato|mensagem encaminhada|doorgestuurd bericht|пересылаемое сообщение)\s*-{3,}"
    r"|\s*(?:begin forwarded message|anfang der weitergeleiteten nachricht|début du message réexpédié)\s*:)\s*$",
    re.IGNORECASE,
)
_FORWARD_SUBJECT = re.compile(r"^\s*(?:fwd?|wg|tr|rv|enc|i|vs|转发|轉寄)\s*:", re.IGNORECASE)


def without_history(text: str, subject: str | None = None) -> str:
    """The text without what it quotes of older messages; the same text if it quotes nothing, or nothing else.

    History is what follows an attribution that quoted lines follow, or a header block of Outlook's kind, and every
    quoted line; of those that an answer stands under, the last few stay, marked as cut. What is forwarded is no
    history: it is what the message is about. Where it is unclear, text stays.
    """
    if not _may_quote(text):
        return text
    lines = text.split("\n")
    forwarded = subject is not None and _FORWARD_SUBJECT.match(subject) is not None
    end = len(lines) if forwarded else _history_start(lines)
    kept = _without_quoted(lines[:end])
    new = "\n".join(kept).strip("\n")
    if not new.strip() or new.strip() == text.strip():
        return text
    return new


def _may_quote(text: str) -> bool:
    return text.startswith(">") or "\n>" in text or ":" in text or "--" in text


def _history_start(lines: Sequence[str]) -> int:
    """The first line of unmarked history below; all lines if there is none, or if something is forwarded."""
    for position, line in enumerate(lines):
        if _FORWARDED.match(line):
            return len(lines)
        if _SEPARATOR.match(line):
            return position
        if _HEADER_LINE["from"].match(line) and _is_header_block(lines[position : position + _BLOCK]):
            return position - 1 if position and _RULE.match(lines[position - 1]) else position
    return len(lines)


def _is_header_block(lines: Sequence[str]) -> bool:
    """`From:`, `Sent:`, `To:` and `Subject:` close together, as Outlook writes them above what it quotes."""
    rest = [pattern for name, pattern in _HEADER_LINE.items() if name != "from"]
    return all(any(pattern.match(line) for line in lines[1:]) for pattern in rest)


def _without_quoted(lines: list[str]) -> list[str]:
    kept: list[str] = []
    position = 0
    last_own = max((at for at, line in enumerate(lines) if line.strip() and not line.startswith(">")), default=-1)
    while position < len(lines):
        if not lines[position].startswith(">"):
            kept.append(lines[position])
            position += 1
            continue
        end = _quoted_end(lines, position)
        _drop_attribution(kept)
        if last_own >= end:
            kept += _context(lines[position:end])
        position = end
    return kept


def _quoted_end(lines: Sequence[str], position: int) -> int:
    """Behind the last quoted line of a block; an empty line between two quoted ones belongs to it."""
    end = position
    while end < len(lines):
        if lines[end].startswith(">"):
            position = end + 1
        elif lines[end].strip():
            break
        end += 1
    return position


def _context(quoted: Sequence[str]) -> list[str]:
    """What stays of quoted lines above an answer."""
    told = [line for line in quoted if line.strip("> \t")]
    if len(told) <= _CONTEXT:
        return told
    return ["> […]", *told[-_CONTEXT:]]


def _drop_attribution(kept: list[str]) -> None:
    """Take off the line or lines before a quotation that say whose words they are."""
    while kept and not kept[-1].strip():
        kept.pop()
    for count in range(1, min(_ATTRIBUTION_LINES, len(kept)) + 1):
        first, joined = kept[-count], " ".join(kept[-count:])
        if not first.strip() or len(joined) > _LONGEST_ATTRIBUTION:
            return
        complete = _BEGINS.match(first) or count == min(_ATTRIBUTION_LINES, len(kept))
        if complete and _WROTE.search(joined) and _DATED.search(joined):
            del kept[-count:]
            return
