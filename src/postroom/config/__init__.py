"""The configuration file as frozen values, or every fault in it at once."""

from postroom.config.credential import Credential, CredentialError
from postroom.config.faults import ConfigError, Fault
from postroom.config.load import find, load
from postroom.config.schema import (
    Config,
    FoldersConfig,
    LimitsConfig,
    MailboxConfig,
    ServerConfig,
    TokenConfig,
)
from postroom.config.servers import ImapConfig, SmtpConfig
from postroom.config.values import Auth, Identity, Listen, Tls

__all__ = [
    "Auth",
    "Config",
    "ConfigError",
    "Credential",
    "CredentialError",
    "Fault",
    "FoldersConfig",
    "Identity",
    "ImapConfig",
    "LimitsConfig",
    "Listen",
    "MailboxConfig",
    "ServerConfig",
    "SmtpConfig",
    "Tls",
    "TokenConfig",
    "find",
    "load",
]
