"""`postroom bridge`: a gateway's MCP for clients that only speak stdio."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import click

from postroom.base.secret import Secret
from postroom.cli.state import fail

_BAD_SETUP = 2
_LONGEST_SENTENCE = 500
_DEFAULT_URL = "http://127.0.0.1:8000/mcp"
_DEFAULT_VARIABLE = "POSTROOM_TOKEN"
_TOKEN = re.compile(r"[!-~]{1,4096}", re.ASCII)


@click.command("bridge", short_help="Speak MCP on stdin and stdout.")
@click.option("--url", default=_DEFAULT_URL, show_default=True, help="The gateway's MCP endpoint.")
@click.option(
    "--token-env",
    "variable",
    default=_DEFAULT_VARIABLE,
    show_default=True,
    help="The environment variable that holds the token.",
)
@click.option("--ca-file", type=click.Path(path_type=Path), help="Trust the authorities in this file alone.")
@click.option("--allow-insecure", is_flag=True, help="Send the token in the clear to another machine (plain http).")
@click.argument("extra", nargs=-1, metavar="")
def bridge(url: str, variable: str, ca_file: Path | None, allow_insecure: bool, extra: tuple[str, ...]) -> None:
    """Speak MCP on stdin and stdout, for a client that can only start programs."""
    if extra:  # not said again: it may be a token
        fail("bridge takes options only; the token comes from the environment (see --token-env)", _BAD_SETUP)
    if sys.stdin is None or sys.stdout is None:
        fail("stdin and stdout must be open; a client starts the bridge and speaks through them", _BAD_SETUP)
    token = _token(variable)
    from postroom.bridge import AddressFault, read_address, run  # noqa: PLC0415 - would slow every other command

    try:
        address = read_address(url, allow_insecure=allow_insecure, ca_file=str(ca_file) if ca_file else None)
    except AddressFault as fault:
        fail(f"--url cannot be used: {fault}", _BAD_SETUP)
    if sys.stdin.isatty():
        _tell("this waits for MCP messages on stdin; a client starts it (Ctrl-C ends it)")
    if not run(address, token, _tell):
        _tell("the client stopped listening")
        sys.exit(1)


def _token(variable: str) -> Secret:
    """The token, which nothing here ever shows; nor the variable's name, in place of which a token may stand."""
    text = os.environ.get(variable, "").removesuffix("\n").removesuffix("\r")
    if not text:
        named = variable if variable == _DEFAULT_VARIABLE else "that --token-env names"
        fail(f"the environment variable {named} is not set; put the token there, and only its name here", _BAD_SETUP)
    if _TOKEN.fullmatch(text) is None:
        fail("the token in the environment has a space, a line end or another character no token has", _BAD_SETUP)
    return Secret(text)


def _tell(sentence: str) -> None:
    """In which a gateway may have had its say: no character of it does anything to a terminal."""
    shown = "".join(letter if letter.isprintable() else "?" for letter in sentence)[:_LONGEST_SENTENCE]
    click.echo(f"postroom bridge: {shown}", err=True)
