"""Neither the user's cache nor the list of recent traces is touched."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DCTX_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("DCTX_STATE_DIR", str(tmp_path / "state"))
