"""Tests of the application share the trees and tables of `rows_app`, and have its patience."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = str(Path(__file__).resolve().parents[2])
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)


@pytest.fixture(scope="session", autouse=True)
def own_directories(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Stores and the list of recent traces stay out of the user's directories."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DCTX_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("DCTX_STATE_DIR", str(tmp_path_factory.mktemp("state")))
        patch.delenv("NO_COLOR", raising=False)
        # On a busy machine a screen may take longer to appear than a user would wait for.
        patch.setattr("dctx.tui.type_ahead.PATIENCE_S", 60.0)
        # Nor is what it says gone before a test could read it.
        patch.setattr("textual.app.App.NOTIFICATION_TIMEOUT", 60.0)
        yield


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An editor that only writes down how it was called, one line a call: into this file."""
    log, program = tmp_path / "opened", tmp_path / "editor"
    program.write_text(f'#!/bin/sh\necho "$@" >> {log}\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(program))
    return log
