"""Every test has a cache and a list of recent traces of its own."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DCTX_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("DCTX_STATE_DIR", str(tmp_path / "state"))
