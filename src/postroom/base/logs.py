"""The log: one JSON line an event, of a closed set of fields, so that no mail and no secret gets in."""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from traceback import walk_tb
from typing import TextIO, TypedDict, Unpack

from postroom.base.clock import Clock
from postroom.base.token import TOKEN_PATTERN

_LONGEST_VALUE = 200
_SHORT = 24
_LONGEST_CHAIN = 5
_MOST_FRAMES = 20
_ENCODED = json.JSONEncoder(separators=(",", ":")).encode
"""In ASCII: some other characters end lines too."""
_EVENT = re.compile(r"[a-z][a-z0-9_.]{0,63}", re.ASCII)
_BEARER = re.compile(r"(?i)\b(bearer)\s+\S+")
_AUTH = re.compile(r"(?i)\b(auth(?:enticate)?\s+[a-z0-9-]+)\s+\S+")


class Fields(TypedDict, total=False):
    """All that may stand in a line beside time, level and event: the operator's names, codes, counts."""

    request: str
    incident: str
    token: str
    profile: str
    mailbox: str
    webhook: str
    tool: str
    method: str
    status: int
    code: str
    reason: str
    outcome: str
    duration: str
    """A bucket such as `<100ms`: an exact time would tell of what was looked at."""
    count: int
    seq: int
    hash: str
    """Number and hash of an audit record."""
    attempt: int
    seconds: float
    listen: str
    version: str


_DURATIONS = ((0.01, "<10ms"), (0.1, "<100ms"), (1.0, "<1s"), (10.0, "<10s"))


def duration(seconds: float) -> str:
    """The class that a time is logged as."""
    return next((words for end, words in _DURATIONS if seconds < end), ">=10s")


class Log:
    """Writes lines for one process; who logs gets it as an argument."""

    def __init__(self, clock: Clock, stream: TextIO | None = None) -> None:
        self._handler = logging.StreamHandler(sys.stderr if stream is None else stream)
        self._handler.setFormatter(_Lines(clock))
        # Not from the registry: what another library does to "postroom" there changes nothing here.
        self._logger = logging.Logger("postroom", logging.INFO)
        self._logger.addHandler(self._handler)

    def info(self, event: str, **fields: Unpack[Fields]) -> None:
        """Something that the operator may want to know."""
        self._write(logging.INFO, event, fields)

    def warning(self, event: str, **fields: Unpack[Fields]) -> None:
        """Something that went wrong and that the gateway deals with."""
        self._write(logging.WARNING, event, fields)

    def error(self, event: str, failure: BaseException | None = None, **fields: Unpack[Fields]) -> None:
        """Something that somebody must look at; `failure` adds where it happened, without its message."""
        self._write(logging.ERROR, event, fields, failure)

    def capture_libraries(self) -> None:
        """Take the warnings of all other libraries too: who, where and which exception, never their words."""
        root = logging.getLogger()
        root.handlers[:] = [self._handler]
        root.setLevel(logging.WARNING)

    def _write(self, level: int, event: str, fields: Fields, failure: BaseException | None = None) -> None:
        unknown = fields.keys() - Fields.__annotations__.keys()
        if unknown or _EVENT.fullmatch(event) is None:
            raise TypeError(f"not a line of this log: event {event!r}, unknown fields {sorted(unknown)}")
        trace = (type(failure), failure, failure.__traceback__) if failure is not None else None
        self._logger.log(level, event, exc_info=trace, extra={"postroom_fields": fields})


class _Lines(logging.Formatter):
    """A record as one line of JSON, cleaned last of anything that looks like a secret."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": self._clock.now().isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            **_told(record),
        }
        if record.exc_info is not None and record.exc_info[1] is not None:
            line["errors"] = [_error(failure) for failure in _chain(record.exc_info[1])]
        return _ENCODED(line)


def _told(record: logging.LogRecord) -> dict[str, object]:
    """Our own records say event and fields; of a library's nothing is taken but its name and place."""
    fields: Mapping[str, object] | None = getattr(record, "postroom_fields", None)
    if fields is None:
        return {"event": "library", "logger": _clean(record.name), "at": f"{record.filename}:{record.lineno}"}
    return {"event": record.msg, **{name: _clean(value) for name, value in fields.items()}}


def _clean(value: object) -> object:
    if isinstance(value, bool | int | float) or value is None:
        return value
    text = str(value)
    if len(text) < _SHORT and " " not in text and text.isprintable():
        return text  # too short for a token, and one word says nothing of what a login sends
    text = TOKEN_PATTERN.sub("[secret]", text)
    text = _AUTH.sub(r"\1 [secret]", _BEARER.sub(r"\1 [secret]", text))
    return text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + "…"


def _chain(failure: BaseException) -> Iterator[BaseException]:
    """The exception and those it came from, nearest first."""
    current: BaseException | None = failure
    for _ in range(_LONGEST_CHAIN):
        if current is None:
            return
        yield current
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)


def _error(failure: BaseException) -> dict[str, object]:
    """Type and places only: the words of an exception may quote mail, an address or a password."""
    places = [
        f"{PurePath(frame.f_code.co_filename).name}:{line} {frame.f_code.co_name}"
        for frame, line in walk_tb(failure.__traceback__)
    ]
    told: dict[str, object] = {"type": type(failure).__name__, "trace": places[-_MOST_FRAMES:]}
    if isinstance(failure, BaseExceptionGroup):
        told["within"] = [_error(inner) for inner in failure.exceptions[:_LONGEST_CHAIN]]
    return told
