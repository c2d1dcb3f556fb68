"""The map is the tree, modules say what they are for, and files and functions stay small."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import postroom

ROOT = Path(postroom.__file__).parent
MODULES = sorted(path for path in ROOT.rglob("*.py") if path.name != "__init__.py")
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "managers"}
ids = [str(path.relative_to(ROOT)) for path in MODULES]


def mapped() -> set[str]:
    """Modules named by the map: `package/` lines head the indented names below them."""
    names: set[str] = set()
    package = ""
    for line in (postroom.__doc__ or "").splitlines():
        head = re.match(r"    (\w+)(/?) {2,}", line)
        if head:
            package = f"{head[1]}/" if head[2] else ""
            names |= set() if head[2] else {head[1]}
        elif re.match(r" {8}\w", line):
            names |= {package + name for name in line.split()}
    return names


def test_the_map_in_the_package_docstring_is_the_tree() -> None:
    assert mapped() == {str(path.relative_to(ROOT).with_suffix("")) for path in MODULES}


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=str)
def test_a_module_opens_with_one_line_that_says_what_it_is_for(path: Path) -> None:
    docstring = ast.get_docstring(ast.parse(path.read_text())) or ""
    assert docstring.splitlines()[0].endswith((".", ";"))


@pytest.mark.parametrize("path", MODULES, ids=ids)
def test_no_file_is_a_grab_bag_or_grows_past_a_second_look(path: Path) -> None:
    assert path.stem not in FORBIDDEN_NAMES
    assert len(path.read_text().splitlines()) <= 350


@pytest.mark.parametrize("path", MODULES, ids=ids)
def test_no_function_is_longer_than_forty_lines(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno <= 40, node.name


def test_the_import_contracts_hold() -> None:
    done = subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
