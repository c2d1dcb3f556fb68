"""`postroom bridge` before it carries anything: what it asks of the environment, and that it never shows a token."""

from __future__ import annotations

import pytest
from click.testing import CliRunner, Result

from postroom.cli import main

TOKEN = "psr_a_0123456789_swordfishswordfish"


def bridge(*arguments: str, **environment: str | None) -> Result:
    return CliRunner().invoke(main, ["bridge", *arguments], env={"POSTROOM_TOKEN": None, **environment}, input="")


@pytest.mark.parametrize(
    ("arguments", "environment", "told"),
    [
        ([], {}, "the environment variable POSTROOM_TOKEN is not set; put the token there, and only its name here\n"),
        (["--token-env", "MINE"], {}, "the environment variable that --token-env names is not set; put the token "),
        (["--token-env", TOKEN], {}, "the environment variable that --token-env names is not set; put the token "),
        ([], {"POSTROOM_TOKEN": ""}, "the environment variable POSTROOM_TOKEN is not set; "),
        ([], {"POSTROOM_TOKEN": f"{TOKEN}\r\nX-Evil: 1"}, "the token in the environment has a space, a line end or "),
        ([], {"POSTROOM_TOKEN": f"{TOKEN}\n\n"}, "the token in the environment has a space, a line end or "),
        ([], {"POSTROOM_TOKEN": f"{TOKEN}ß"}, "the token in the environment has a space, a line end or "),
        ([TOKEN], {}, "bridge takes options only; the token comes from the environment (see --token-env)\n"),
        (["--url", "http://mail.example"], {"POSTROOM_TOKEN": TOKEN}, "--url cannot be used: plain http to another "),
        (["--url", f"http://{TOKEN}@localhost"], {"POSTROOM_TOKEN": TOKEN}, "--url cannot be used: it may hold no "),
    ],
)
def test_what_is_wrong_is_told_and_the_token_is_not(
    arguments: list[str], environment: dict[str, str], told: str
) -> None:
    result = bridge(*arguments, **environment)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(told)
    assert "swordfish" not in result.stderr


def test_a_token_is_no_option() -> None:
    result = bridge("--token", TOKEN)
    assert result.exit_code == 2
    assert "No such option" in result.stderr
    assert "swordfish" not in result.stderr
