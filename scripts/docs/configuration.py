"""docs/configuration.md: every key of the configuration file, from its schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from enum import Enum
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from postroom.base.caller import Scope
from postroom.config import values, webhooks
from postroom.config.load import PLACES
from postroom.config.policies import quiethours
from postroom.config.policies import values as policy_values
from postroom.config.policies.matching import TextPattern
from postroom.config.policies.values import spell_duration, spell_size
from postroom.config.rules import broken_rules
from postroom.config.schema import ConfigFile
from postroom.config.section import Section
from postroom.config.values import Listen
from scripts.docs.markdown import GENERATED, code, document, table
from scripts.docs.words import about, field_words

EXAMPLE = """\
mailboxes:
  - name: work
    address: ana@example.org
    imap: {host: imap.example.org, username: ana@example.org, password_file: work.password}
    smtp: {host: smtp.example.org, username: ana@example.org, password_file: work.password}
tokens:
  - name: assistant
    token_hash: "sha256:0b1c5f6e7d8a9b0c1d2e3f405162738495a6b7c8d9eafb0c1d2e3f4051627384"
    scopes: [read]
    mailboxes: [work]
"""

_INTRODUCTION = f"""\
Postroom reads one YAML file: the one named by `--config`, else by `POSTROOM_CONFIG`, else the first that exists of
{" and ".join(code(place) for place in PLACES)}. Paths in it are relative to its folder.
A configuration file that holds a password must be private (`chmod 600`); so should one that a password is read from.

Nothing in it is guessed: an unknown key, a key given twice, a value of the wrong kind or a feature that is not built
yet stops the start, and all faults are told at once, each with its line. A key without a value counts as left out.
When the file is good, `postroom check` tries every mailbox and says what is wrong and what to do.

The smallest useful file:"""

_TYPES: tuple[tuple[Any, str], ...] = (
    (values.Name, "name"),
    (values.Host, "host name or IP address"),
    (values.Domain, "domain"),
    (values.AddressText, "address"),
    (values.TokenHash, "`sha256:` and 64 hex digits"),
    (values.CertificateHash, "64 hex digits"),
    (values.Line, "text"),
    (values.HttpUrl, "URL"),
    (values.Origin, "origin"),
    (values.AllowedHost, "host"),
    (values.StoreChoice, "`sqlite` or URL"),
    (values.ListenAddress, "host:port"),
    (values.IdentityText, "identity"),
    (values.HiddenText, "text"),
    (values.FilePath, "path"),
    (values.Argv, "list of words"),
    (values.Port, "port"),
    (values.Positive, "number from 1"),
    (values.NotNegative, "number from 0"),
    (values.Seconds, "seconds"),
    (webhooks.TargetUrl, "URL"),
    (webhooks.PrivateNetwork, "network"),
    (TextPattern, "text pattern"),
    (policy_values.Duration, "duration"),
    (policy_values.Pause, "duration"),
    (policy_values.Size, "size"),
    (policy_values.RuleId, "name"),
    (policy_values.DetectorName, "name"),
    (policy_values.AddressPattern, "address pattern"),
    (policy_values.DomainName, "domain"),
    (policy_values.DomainPattern, "domain pattern"),
    (policy_values.FolderPattern, "folder pattern"),
    (policy_values.TextGlob, "glob"),
    (policy_values.ExpressionText, "regular expression"),
    (policy_values.MediaGlob, "media type"),
    (policy_values.Extension, "file ending"),
    (policy_values.HeaderName, "field name"),
    (policy_values.LabelGlob, "label glob"),
    (quiethours.WeekWindow, "time window"),
    (quiethours.ZoneName, "time zone"),
    (bool, "`true` or `false`"),
    (int, "number"),
    (str, "text"),
)
_KINDS = """\
A *name* has letters, digits, `_` and `-`, at most 64. *Seconds* are more than 0 and at most 3600. A *number* is a
whole number. *Text* is one line. A key whose default is *required* must be given; *none* means that there is none
unless it is given.

A *duration* is a whole number with `s`, `m`, `h` or `d`; a *size* one of octets, or with `k` or `m` (1,024 and its
square). An *address pattern* is `ana@example.org`, `*@example.org` for all of a domain, `*@*.example.org` for those
below it, `us*r@example.org`, `internal` for the mailbox's internal domains, `self` for its own addresses, `list:NAME`,
or `anyone`. Where a rule restricts, `ana@example.org` is `ana+anything@example.org` too. A *domain pattern* is
`example.org`, or `*.example.org` for those below it. A *folder pattern* is a path with `/` between its levels, in which
`?` is one character, `*` any run within a level and `**` any run; or `special:` and a special use. A *glob* over text
has `?` and `*`. A *text pattern* is a text that must be found, whatever the case, or a table with one of `contains`,
`equals`, `glob`, `re2`. Where a list is wanted one value will do, and of a list any counts unless it says otherwise."""


def page() -> str:
    """The whole document."""
    return document(
        [
            GENERATED,
            "# Configuration",
            _INTRODUCTION,
            f"```yaml\n{EXAMPLE}```",
            _KINDS,
            *_sections(ConfigFile, (), {}),
        ]
    )


Place = tuple[str, ...]
"""Keys that lead to a table; `[]` stands for an entry of a list, `NAME` for one of a table of tables."""


def _sections(model: type[BaseModel], place: Place, told: dict[type[BaseModel], Place]) -> Iterator[str]:
    """A heading, a sentence and a table for a model, then the same for each model within it; each table once."""
    yield f"## {code(spell(place))}" if place else "## The file"
    yield about(model)
    if _is_refused(place):
        yield _REFUSED
    if model in told:
        yield f"The same keys as {code(spell(told[model]))}."
        return
    told[model] = place
    yield _table(model, place)
    for name, annotation in _hints(model).items():
        inner, steps = _inner(annotation)
        if inner is not None:
            yield from _sections(inner, (*place, _key(model, name), *steps), told)


_REFUSED = "**Not built yet:** a file that has it is refused."


def _table(model: type[BaseModel], place: Place) -> str:
    words = field_words(model)
    rows = [
        [
            code(_key(model, name)),
            _kind(kind),
            _default(model.model_fields[name], kind),
            _meaning(words[name], (*place, _key(model, name)), kind),
        ]
        for name, kind in _hints(model).items()
    ]
    return table(["key", "type", "default", "meaning"], rows)


def _meaning(words: str, place: Place, kind: Any) -> str:
    if _is_refused(place):
        return words if _is_refused(place[:-1]) else f"{words} {_REFUSED}"
    refused = [code(choice) for choice in get_args(kind) if _refusal(place, choice)]
    return f"{words} **Not built yet**, and refused: {', '.join(refused)}." if refused else words


def _hints(model: type[BaseModel]) -> Mapping[str, Any]:
    hints = get_type_hints(model, include_extras=True)
    return {name: hints[name] for name in model.model_fields}


def _key(model: type[BaseModel], name: str) -> str:
    """What the file calls a field."""
    return model.model_fields[name].alias or name


def _inner(annotation: Any) -> tuple[type[BaseModel] | None, Place]:
    """The model within a field's type, and the steps from the field to it."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return annotation, ()
    step: Place = {tuple: ("[]",), Mapping: ("NAME",)}.get(_origin(annotation), ())
    for argument in get_args(annotation):
        model, steps = _inner(argument)
        if model is not None:
            return model, (*step, *steps)
    return None, ()


def _origin(annotation: Any) -> Any:
    origin = get_origin(annotation)
    return Mapping if isinstance(origin, type) and issubclass(origin, Mapping) else origin


def _kind(annotation: Any) -> str:
    """A type in words."""
    for known, words in _TYPES:
        if annotation == known:
            return words
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return "table"
    if annotation is Scope or (isinstance(annotation, type) and issubclass(annotation, Enum)):
        return _choices([member.value for member in annotation])
    return _composed(annotation)


def _composed(annotation: Any) -> str:
    origin, arguments = _origin(annotation), get_args(annotation)
    if origin is Literal:
        return _choices(arguments)
    if origin in (Union, UnionType):
        return " or ".join(_kind(argument) for argument in arguments if argument is not type(None))
    if origin in (tuple, frozenset):
        return f"list of {_several(arguments[0])}"
    if origin is Mapping:
        return "table" if arguments[1] is Any else f"table of {_several(arguments[1])}"
    return _kind(arguments[0]) if origin is Annotated else "number"


def _several(annotation: Any) -> str:
    one = _kind(annotation)
    if not one.replace(" ", "").isalpha() or one == "text" or " of " in one or " or " in one:
        return one.replace("list of", "lists of")
    return "identities" if one == "identity" else f"{one}s"


def _choices(choices: Any) -> str:
    return ", ".join(code(choice) for choice in choices)


def _default(field: FieldInfo, kind: Any) -> str:
    if field.is_required():
        return "*required*"
    value = field.default
    if value is PydanticUndefined:
        factory: Any = field.default_factory
        return "none" if factory is dict else about(factory).removesuffix(".")
    return code(spell_size(value)) if _kind(kind) == "size" and value is not None else _spelled(value)


def _spelled(value: Any) -> str:
    if value is None or value == () or value == frozenset() or isinstance(value, Section) or value == "":
        return "none" if not isinstance(value, Section) else ""
    if isinstance(value, Listen):
        return code(f"{value.host}:{value.port}")
    if isinstance(value, timedelta):
        return code(spell_duration(value))
    if isinstance(value, tuple):
        return ", ".join(code(one) for one in value)
    if isinstance(value, bool):
        return code(str(value).lower())
    if isinstance(value, float):
        return code(f"{value:g}")
    return code(value.value if isinstance(value, Enum) else value.as_posix() if isinstance(value, Path) else value)


def spell(place: Place) -> str:
    """`mailboxes[].imap.port` for the keys that lead there."""
    return ".".join(place).replace(".[]", "[]")


def _is_refused(place: Place) -> bool:
    """Whether the rules of the configuration refuse what is here, or lies within it, as not built yet."""
    return any(_refusal(place[:length]) for length in range(1, len(place) + 1))


def _refusal(place: Place, value: object = "anything") -> bool:
    file = value
    for step in reversed(place):
        file = [file] if step == "[]" else {step: file}
    at = tuple(0 if step == "[]" else step for step in place)
    return any(found.where == at and "not built yet" in found.problem for found in broken_rules(file, None))
