"""Who may touch time, sockets, tasks, stamps and the unexpected: fences against forgetting."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import postroom

ROOT = Path(postroom.__file__).parent
MODULES = {str(path.relative_to(ROOT).with_suffix("")): ast.parse(path.read_text()) for path in ROOT.rglob("*.py")}
STAMPS = {
    "Shown": "policy/visibility",
    "Admitted": "policy/visibility",
    "Reading": "policy/content",
    "Released": "policy/attachments",
    "Cleared": "policy/outbound/clearing",
}
"""Each made in one place."""

MAY_IMPORT = {
    "time": {"base/clock"},
    "socket": {"app", "base/tls", "demo/__init__", "events/resolving", "surfaces/serving"},
    "ssl": {"base/tls", "imap/stream", "smtp/faults", "bridge/exchange", "events/egress"},
    "h11": {"base/http1"},
    "sqlite3": {"store/sqlite"},
    "asyncpg": {"store/postgresql", "store/hearing"},
    "uvicorn": {"surfaces/serving", "surfaces/http_connection"},
    "aiosmtplib": {"smtp/faults", "smtp/login", "smtp/opening", "smtp/session", "smtp/submission"},
    "pymap": {"demo/servers"},
    "aiosmtpd": {"demo/servers"},
    "subprocess": set(),
    "urllib.request": set(),
    "http.client": set(),
    "email": {"demo/samples", "demo/servers"},
    "prometheus_client": {"base/meters"},
    "pickle": set(),
    "random": {"imap/admission", "imap/pool", "mailbox/watching", "telling", "events/watched"},
}
"""Modules with a fence, and who is inside it."""


def imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def calls(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func)


@pytest.mark.parametrize("fenced", MAY_IMPORT)
def test_a_fenced_module_is_imported_inside_its_fence_alone(fenced: str) -> None:
    found = {
        name
        for name, tree in MODULES.items()
        if any(one == fenced or one.startswith(f"{fenced}.") for one in imports(tree))
    }
    assert found <= MAY_IMPORT[fenced]


def test_only_the_clock_reads_the_time() -> None:
    readers = {
        name for name, tree in MODULES.items() if {"datetime.now", "datetime.utcnow", "date.today"} & set(calls(tree))
    }
    assert readers == {"base/clock"}


@pytest.mark.parametrize("stamp", STAMPS)
def test_a_stamp_is_made_in_one_place_of_policy(stamp: str) -> None:
    makers = {name for name, tree in MODULES.items() if stamp in {call.rpartition(".")[2] for call in calls(tree)}}
    assert makers == {STAMPS[stamp]}


def test_no_task_is_started_outside_a_group_and_groups_stand_where_they_may() -> None:
    for name, tree in MODULES.items():
        found = set(calls(tree))
        if name == "config/credential":  # a program's start, which that function itself awaits whatever happens
            found.discard("asyncio.ensure_future")
        assert not found & {"asyncio.create_task", "asyncio.ensure_future", "loop.create_task"}, name
        if "asyncio.TaskGroup" in found:
            assert name.startswith(("app", "mailbox/", "events/duty", "demo/", "surfaces/presence", "bridge/carrying"))


def test_the_unexpected_is_caught_in_the_corridor_at_the_skin_by_the_thread_for_others_and_where_mail_is_judged() -> (
    None
):
    broad = set()
    for name, tree in MODULES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ExceptHandler) and (node.type is None or ast.unparse(node.type) == "Exception"):
                broad.add(name)
    assert broad == {
        "events/courier",
        "mailbox/listening",
        "events/watcher",
        "operations/perform",
        "policy/messagerules",
        "store/worker",
        "surfaces/application",
        "surfaces/presence",
    }


def test_whatever_catches_everything_raises_it_again() -> None:
    for name, tree in MODULES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ExceptHandler) and node.type and ast.unparse(node.type) == "BaseException":
                assert isinstance(node.body[-1], ast.Raise), name


def test_secrets_are_revealed_only_where_they_are_used() -> None:
    revealers = {name for name, tree in MODULES.items() if any(call.endswith(".reveal") for call in calls(tree))}
    allowed = {
        "imap/connection",
        "imap/login",
        "smtp/login",
        "mailbox/wiring",
        "cli/tokens",
        "cli/webhooks",
        "base/token",
        "base/webhooksecret",
        "bridge/exchange",
        "events/signing",
        "store/postgresql",
    }
    assert {name for name in revealers if not name.startswith("demo/")} <= allowed


def test_what_is_for_decisions_alone_is_told_nowhere() -> None:
    """A message's head as it came stands beside what is shown of it: answers are made from what is shown."""
    told = {
        name
        for name, tree in MODULES.items()
        if name.startswith(("operations/", "surfaces/"))
        and any(isinstance(node, ast.Attribute) and node.attr == "written" for node in ast.walk(tree))
    }
    assert told == set()
