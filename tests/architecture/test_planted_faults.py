"""The fences are tried: each fault is planted in a copy of the source, and a type, a contract or a test must object."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


@dataclass(frozen=True)
class Copy:
    """A copy of the project that may be broken."""

    folder: Path

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(self.folder / "src")}
        return subprocess.run(
            [str(Path(sys.executable).with_name(command[0])), *command[1:]],
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """The unbroken copy, which everybody must be content with."""
    folder = tmp_path_factory.mktemp("planted") / "project"
    folder.mkdir()
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__", "*.eml"))
    shutil.copytree(ROOT / "tests", folder / "tests", ignore=shutil.ignore_patterns("__pycache__", "corpus"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, folder / name)
    copy = Copy(folder)
    for judge in (types, contracts):
        done = judge(copy)
        assert done.returncode == 0, done.stdout + done.stderr
    return copy


@pytest.fixture
def broken(sound: Copy) -> Iterator[Callable[[str, str, str], Copy]]:
    """Plant one fault; it is mended when the test ends."""
    before: list[tuple[Path, str]] = []

    def plant(module: str, right: str, wrong: str) -> Copy:
        path = sound.folder / "src" / "postroom" / module
        text = path.read_text()
        assert right in text, f"{module} has no {right!r} any more: plant the fault where it is now"
        before.append((path, text))
        path.write_text(text.replace(right, wrong, 1))
        return sound

    yield plant
    for path, text in before:
        path.write_text(text)


def types(copy: Copy) -> subprocess.CompletedProcess[str]:
    return copy.run("mypy")


def contracts(copy: Copy) -> subprocess.CompletedProcess[str]:
    return copy.run("lint-imports", "--no-cache")


def fences(copy: Copy) -> subprocess.CompletedProcess[str]:
    return copy.run("python", "-m", "pytest", "tests/architecture/test_fences.py")


def corridor(copy: Copy) -> subprocess.CompletedProcess[str]:
    return copy.run("python", "-m", "pytest", "tests/operations/test_corridor.py")


FUTURE = "from __future__ import annotations\n"

FAULTS = {
    "the view returns the fetched message": (
        types,
        "mailbox/sight.py",
        "        return [show(row, self._name(row)) for row in rows]",
        "        return list(rows)",
        'expected "Iterable[Shown | None]"',
    ),
    "the view forgets that show may say no": (
        types,
        "mailbox/view.py",
        "answers[uid] = shown or self._sight.told(gone(uid) if uid in current else changed(uid))",
        "answers[uid] = shown",
        "Incompatible types in assignment",
    ),
    "a bound caller is shown what was fetched": (
        types,
        "mailbox/bound.py",
        "        return [as_row(read[row.uid]) if row.uid in read else None for row in rows]",
        "        return list(rows)",
        'expected "Iterable[Shown | None]"',
    ),
    "a row is made from a fetched message": (
        types,
        "operations/rows.py",
        "def row_of(shown: Shown, mailbox: str, room: Room)",
        "def row_of(shown: Fetched, mailbox: str, room: Room)",
        "error:",
    ),
    "an operation imports the account": (
        contracts,
        "operations/reading.py",
        FUTURE,
        FUTURE + "import postroom.mailbox.account\n",
        "Only mailbox reaches mail servers BROKEN",
    ),
    "an operation imports the IMAP client": (
        contracts,
        "operations/overview.py",
        FUTURE,
        FUTURE + "import postroom.imap.pool\n",
        "Only mailbox reaches mail servers BROKEN",
    ),
    "an operation reaches for the account behind a mailbox": (
        types,
        "operations/overview.py",
        "        name=settings.name,",
        "        name=settings.account.name,",
        'has no attribute "account"',
    ),
    "an operation imports the entry that holds it": (
        contracts,
        "operations/overview.py",
        FUTURE,
        FUTURE + "import postroom.mailbox.entry\n",
        "Only mailbox reaches mail servers BROKEN",
    ),
    "an operation parses mail itself": (
        contracts,
        "operations/reading.py",
        FUTURE,
        FUTURE + "import postroom.mail.parse\n",
        "Operations reach mail through views, and read messages as parsed BROKEN",
    ),
    "mail imports upward": (
        contracts,
        "mail/model.py",
        FUTURE,
        FUTURE + "import postroom.mailbox.view\n",
        "Imports point down a storey, and neighbours do not know each other BROKEN",
    ),
    "neighbours know each other": (
        contracts,
        "policy/visibility.py",
        FUTURE,
        FUTURE + "import postroom.store.tokens\n",
        "Imports point down a storey, and neighbours do not know each other BROKEN",
    ),
    "a module below the surfaces imports starlette": (
        contracts,
        "operations/perform.py",
        FUTURE,
        FUTURE + "import starlette.requests\n",
        "Only the skins know the web server BROKEN",
    ),
    "the view makes a Shown itself": (
        fences,
        "mailbox/sight.py",
        "        return [show(row, self._name(row)) for row in rows]",
        "        return [Shown(*row) for row in rows]",
        "test_a_stamp_is_made_in_one_place_of_policy[Shown]",
    ),
    "a file is opened that nobody released": (
        types,
        "mailbox/view.py",
        "await self._download(shown, self._sight.files.released(shown, attachment_id))",
        "await self._download(shown, shown.reading.parts[0])",
        'expected "Released"',
    ),
    "a message is moved or erased without leave": (
        types,
        "mailbox/organizing.py",
        "work.stamps.append(leave[number])",
        "work.stamps.append(number)",
        'expected "Admitted"',
    ),
    "whoever may not act acts all the same": (
        types,
        "mailbox/organizing.py",
        "work.stamps.append(leave[number])",
        "work.stamps.append(leave.get(number))",
        'expected "Admitted"',
    ),
    "a folder is changed by UIDs alone": (
        types,
        "mailbox/organizing.py",
        "await opened.erase(work.stamps)",
        "await opened.erase(work.numbers.values())",
        "Sequence[Admitted]",
    ),
    "the organizer gives leave itself": (
        fences,
        "mailbox/organizing.py",
        "work.stamps.append(leave[number])",
        "work.stamps.append(Admitted(opened.name, number, opened.uid_validity, act))",
        "test_a_stamp_is_made_in_one_place_of_policy[Admitted]",
    ),
    "content is shown as it was fetched": (
        types,
        "mailbox/sight.py",
        "self._name(one.fetched), one.reading)",
        "self._name(one.fetched), one.fetched.content)",
        'expected "Reading | None"',
    ),
    "a module reads the time past the clock": (
        fences,
        "mailbox/view.py",
        FUTURE,
        FUTURE + "import time\n",
        "test_a_fenced_module_is_imported_inside_its_fence_alone[time]",
    ),
    "HTTP walks past the corridor": (
        corridor,
        "surfaces/http_api.py",
        "            answer = await while_present(request.receive, work)",
        "            call = Call(caller, Surface.HTTP, self._corridor._directory)\n"
        "            answer = (await match.operation.run(call, match.operation.ask(**arguments))).json_ready()",
        "FAILED tests/operations/test_corridor.py",
    ),
    "a task is started outside a group": (
        fences,
        "mailbox/health.py",
        "    async with asyncio.TaskGroup() as tasks:",
        "    asyncio.create_task(None)\n    async with asyncio.TaskGroup() as tasks:",
        "test_no_task_is_started_outside_a_group",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_caught(fault: str, broken: Callable[[str, str, str], Copy]) -> None:
    judge, module, right, wrong, words = FAULTS[fault]
    done = judge(broken(module, right, wrong))
    assert done.returncode != 0, "nobody objected"
    assert words in done.stdout


def test_an_answer_model_that_holds_a_fetched_message_cannot_even_be_made(
    broken: Callable[[str, str, str], Copy],
) -> None:
    copy = broken("operations/reading.py", "    messages: list[AnyRow]", "    messages: list[Fetched]")
    path = copy.folder / "src/postroom/operations/reading.py"
    path.write_text(path.read_text().replace("import Shown\n", "import Fetched, Shown\n"))
    done = copy.run("python", "-c", "import postroom.operations.catalogue")
    assert done.returncode != 0
    assert "an answer holds what policy has shown" in done.stderr
