"""Neither the user's cache nor the list of recent traces is touched; a small export to fill."""

from pathlib import Path

import pytest

from tests.analyzers.workload import Workload


@pytest.fixture(autouse=True)
def own_directories(shared_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DCTX_CACHE_DIR", str(shared_cache))
    monkeypatch.setenv("DCTX_STATE_DIR", str(tmp_path / "state"))


@pytest.fixture
def work(tmp_path: Path) -> Workload:
    return Workload(tmp_path / "work.sqlite")
