"""The grounds that worlds are built on, for all tests of noninterference."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.noninterference.running import Loop, looping


@pytest.fixture(scope="package")
def loop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loop]:
    with looping(tmp_path_factory.mktemp("worlds")) as opened:
        yield opened
