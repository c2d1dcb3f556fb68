"""A webhook as the configuration file has it: where to post, what of, with whose eyes, and signed by what."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, PlainValidator

from postroom.config.credential import EnvironmentCredential, FileCredential
from postroom.config.section import Section
from postroom.config.targets import Network, Target, read_network, read_target
from postroom.config.values import FilePath, Line, Name, Port

SECRET_KEYS = ("secret_env", "secret_file")
PREVIOUS_SECRET_KEYS = ("previous_secret_env", "previous_secret_file")

EventType = Literal[
    "message.received",
    "message.flags",
    "message.deleted",
    "mailbox.reset",
    "mailbox.unreachable",
    "mailbox.recovered",
    "send.outcome",
    "endpoint.disabled",
    "gap",
]


def _target(value: object) -> object:
    if isinstance(value, Target):
        return value
    if not isinstance(value, str):
        raise ValueError("must be one value, not a list or table")
    return read_target(value)


def _network(value: object) -> object:
    return read_network(value) if isinstance(value, str) else value


TargetUrl = Annotated[Target, PlainValidator(_target)]
PrivateNetwork = Annotated[Network, BeforeValidator(_network)]


class WebhookConfig(Section):
    """Where to tell of what happens, and what its receiver may see."""

    name: Name
    """What deliveries are listed under; unique in the mailbox."""
    url: TargetUrl
    """Where to post to: https, at most 2,000 characters, without user and fragment."""
    events: tuple[EventType, ...]
    """What to tell of."""
    secret_env: Line | None = None
    """Environment variable that holds the secret of the signature; this or `secret_file` must be given."""
    secret_file: FilePath | None = None
    """File that holds it: `whsec_` and base64, as `postroom webhook secret` prints it; no two webhooks share one."""
    previous_secret_env: Line | None = None
    """Environment variable that holds the secret of before, which signs too while the receiver changes over."""
    previous_secret_file: FilePath | None = None
    """File that holds it."""
    user: Name | None = None
    """Whose identity the receiver has; goes with `profile`."""
    profile: Name | None = None
    """Profile that decides what the receiver may see; its ids are those of `user` and profile."""
    unbound: bool = False
    """The receiver may see everything, without a profile."""
    ports: tuple[Port, ...] = ()
    """Ports to permit beside 443."""
    allow_private: tuple[PrivateNetwork, ...] = ()
    """Networks that may be posted to though they are private, by http too, or named by address."""

    @property
    def secrets(self) -> list[EnvironmentCredential | FileCredential]:
        """Where the secrets come from: the present one, then that of before if there is one."""
        variables = (self.secret_env, self.previous_secret_env)
        files = (self.secret_file, self.previous_secret_file)
        found: list[Any] = []
        for variable, file in zip(variables, files, strict=True):
            found += [EnvironmentCredential(variable)] if variable is not None else []
            found += [FileCredential(file)] if file is not None else []
        return found
