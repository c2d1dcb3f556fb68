"""From a file's path to a Config, or to everything that is wrong with it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from pydantic import ValidationError

from postroom.base.files import FileFault, GuardedFile, exposure, read_guarded, weaknesses
from postroom.config.faults import ConfigError, Fault, Finding, spell
from postroom.config.nodes import compose, line_at, plain
from postroom.config.rules import broken_rules, holds_password, unguarded
from postroom.config.schema import Config, ConfigFile
from postroom.config.surroundings import Surroundings
from postroom.config.wording import findings

LARGEST_FILE = 1_048_576
PLACES = (Path("postroom.yaml"), Path("/etc/postroom/postroom.yaml"))
_MOST_FAULTS = 100
Trials = Callable[[ConfigFile], Iterable[Finding]]
"""Runs the tests that a sound file has for itself; each that fails is a fault of the file."""


def find(explicit: Path | None, env: Mapping[str, str]) -> Path:
    """The file to load: `--config`, POSTROOM_CONFIG, or the first of PLACES that exists.

    A file that was named is returned whether it exists or not, so that `load` says what is wrong with it.
    Raises ConfigError if none was named and none is there.
    """
    if explicit is not None:
        return explicit
    if named := env.get("POSTROOM_CONFIG"):
        return Path(named)
    for place in PLACES:
        if place.exists():
            return place
    looked = " and ".join(str(place) for place in PLACES)
    fault = Fault(0, "", f"not found, looked for {looked}", "name one with --config or POSTROOM_CONFIG")
    raise ConfigError(PLACES[0], [fault])


def load(
    path: Path,
    *,
    env: Mapping[str, str] = os.environ,
    insecure_permissions: bool = False,
    check_references: bool = True,
    trials: Trials = lambda _: (),
) -> Config:
    """The configuration in a file, or ConfigError with every fault that can be found in one go.

    Without `check_references`, the files, programs and variables that credentials come from need not exist here.
    With `insecure_permissions`, owner and mode of the file are not looked at. It blocks: call it before the loop.
    `trials` judge a file that is sound otherwise.
    """
    file = _read(path)
    root, faults = compose(_decoded(path, file.data))
    if root is None:
        raise ConfigError(path, faults)
    value, folder = plain(root), path.absolute().parent
    config, found = _validated(value, folder)
    found += broken_rules(value, Surroundings(folder, env) if check_references else None)
    if insecure_permissions:
        found += unguarded(value)
    else:
        faults += _file_faults(path, file, secret=holds_password(value))
    if config is not None and not (found or faults):
        found += trials(config)
    faults += (Fault(line_at(root, one.where), spell(one.where), one.problem, one.suggestion) for one in found)
    if config is None or faults:
        raise ConfigError(path, _at_most(_MOST_FAULTS, faults))
    digest = hashlib.sha256(file.data).hexdigest()
    return Config(**dict(config), insecure_permissions=insecure_permissions, sha256=digest)


def _read(path: Path) -> GuardedFile:
    try:
        return read_guarded(path, LARGEST_FILE)
    except FileFault as failure:
        raise ConfigError(path, [_whole(failure)]) from None


def _decoded(path: Path, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as failure:
        line = data.count(b"\n", 0, failure.start) + 1
        raise ConfigError(path, [Fault(line, "", "is not UTF-8 text", "save the file as UTF-8")]) from None


def _validated(value: object, folder: Path) -> tuple[ConfigFile | None, list[Finding]]:
    try:
        return ConfigFile.model_validate(value, context={"folder": folder}), []
    except ValidationError as error:
        return None, list(findings(error, ConfigFile))


def _file_faults(path: Path, file: GuardedFile, *, secret: bool) -> list[Fault]:
    """Who else could change the file; or read it, if there is a password in it."""
    found = weaknesses(path, file.status)
    if secret:
        found += exposure(path, file.status)
    return [_whole(failure) for failure in found]


def _whole(failure: FileFault) -> Fault:
    return Fault(0, "", failure.problem, failure.suggestion)


def _at_most(most: int, faults: list[Fault]) -> list[Fault]:
    """A file of another kind has a fault in each line; nobody reads them all."""
    if len(faults) <= most:
        return faults
    shown = sorted(faults, key=lambda fault: fault.line)[:most]
    return [*shown, Fault(shown[-1].line, "", f"{len(faults) - most} more faults are not shown")]
