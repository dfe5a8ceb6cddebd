"""Opening a trace: what is told, when, and what is remembered for the next time."""

import json
import os
import shutil
import threading
import time
from dataclasses import asdict
from pathlib import Path

import pytest

from dctx.ingest.cache import cache_dir
from dctx.ingest.registry import open_trace
from dctx.queries.overview import overview
from dctx.queries.trace import Trace
from dctx.tui.app import DctxApp
from dctx.tui.demo import demo_trace
from dctx.tui.loading import FIRST_WINDOW, TOP, Loading, LoadState, StepPatterns
from dctx.tui.remembered import (
    CARD,
    OVERVIEW,
    decoded,
    remember_overview,
    remembered_card,
    remembered_overview,
)
from dctx.tui.screens.view import PATIENCE_S
from dctx.tui.session import Session
from dctx.tui.widgets.row_list import RowList
from dctx.tui.widgets.verdict_view import VerdictView
from tests.tui.app_support import app_of, opened, until

TIMEOUT_S = 60.0


@pytest.fixture
def trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the demo trace and an empty cache."""
    monkeypatch.setenv("DCTX_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()
    return Path(shutil.copy(demo_trace(), tmp_path / "trace.sqlite"))


def load(path: Path, *, cache: bool = True, salvage: bool = False) -> list[LoadState]:
    """Open a trace; every state that was told."""
    loading = Loading(path, cache=cache, salvage=salvage)
    loading.first_screen.set()
    told: list[LoadState] = []
    loading.listen(told.append)
    loading.start()
    loading.wait()
    session = loading.state.session
    if session is not None:
        session.close()
    return told


def test_the_overview_survives_being_written() -> None:
    store = open_trace(demo_trace())
    try:
        known = overview(Trace(store), TOP)
    finally:
        store.close()
    assert decoded(json.loads(json.dumps(asdict(known)))) == known


def test_the_second_time_the_overview_comes_first(trace: Path) -> None:
    first = load(trace)
    assert first[-1].complete
    assert all(state.overview is None or state.session is not None for state in first)
    second = load(trace)
    known = next(state for state in second if state.overview is not None)
    assert known.session is None, "before anything can be asked"
    assert known.overview == first[-1].overview
    assert second[-1].complete


def test_a_changed_trace_is_not_remembered(trace: Path) -> None:
    load(trace)
    assert remembered_overview(trace) is not None
    os.utime(trace, (1, 1))
    assert remembered_overview(trace) is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"capture": 1}', "\x00"])
def test_a_damaged_memory_is_as_none(trace: Path, text: str) -> None:
    load(trace)
    [kept] = cache_dir().glob(f"*{OVERVIEW}")
    kept.write_text(text)
    assert remembered_overview(trace) is None
    assert load(trace)[-1].complete


def test_nothing_is_kept_without_a_cache(trace: Path) -> None:
    load(trace, cache=False)
    assert not list(cache_dir().glob("*"))


def test_a_full_disk_is_no_ones_problem(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = load(trace)[-1].overview
    assert known is not None
    monkeypatch.setenv("DCTX_CACHE_DIR", "/proc/nowhere")
    remember_overview(trace, known)
    assert remembered_overview(trace) is None


def test_stopping(trace: Path) -> None:
    loading = Loading(trace, cache=False)
    loading.cancel()
    loading.start()
    loading.wait()
    assert loading.state.cancelled
    assert loading.state.session is None


def test_a_bug_is_told_and_not_raised(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object, **options: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("dctx.ingest.registry.open_trace", broken)
    assert isinstance(load(trace)[-1].fault, ZeroDivisionError)


async def test_the_first_screen_of_a_known_trace_waits_for_no_database(
    trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(trace)
    may_open = threading.Event()

    def slow(*arguments: object, **options: object) -> object:
        may_open.wait(TIMEOUT_S)
        return open_trace(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr("dctx.ingest.registry.open_trace", slow)
    loading = Loading(trace)
    loading.start()
    async with DctxApp(loading).run_test(size=(80, 24)) as pilot:
        kernels = pilot.app.screen.query_one("#kernels", RowList)
        await until(pilot, lambda: loading.first_screen.is_set() and len(kernels.rows) > 0)
        assert kernels.display
        assert "masked_multihead_attention_kernel" in kernels.render_line(1).text
        assert loading.state.session is None
        may_open.set()
        while not loading.state.ended:
            await pilot.pause(0.02)
    assert loading.state.complete


async def test_the_verdict_is_kept_for_the_next_time(
    trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(trace) as pilot:
        judged = pilot.app.screen.query_one(VerdictView).card
        assert judged is not None
    key = StepPatterns().key(FIRST_WINDOW)
    assert remembered_card(trace, key) == judged
    assert remembered_card(trace, StepPatterns("my_step").key(FIRST_WINDOW)) is None
    monkeypatch.setattr(Session, "card", None)  # it is not asked again
    async with opened(trace) as pilot:
        assert pilot.app.screen.query_one(VerdictView).card == judged
    [kept] = cache_dir().glob(f"*{CARD}")
    kept.write_text('{"answer": "YES"}')
    assert remembered_card(trace, key) is None


async def test_after_a_long_reading_the_keys_go_to_the_rows(
    trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(*arguments: object, **options: object) -> object:
        time.sleep(2 * PATIENCE_S)
        return open_trace(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr("dctx.ingest.registry.open_trace", slow)
    async with opened(trace, size=(80, 24)) as pilot:
        assert isinstance(pilot.app.focused, VerdictView)


async def test_the_trace_opened_is_the_one_shown() -> None:
    async with opened() as pilot:
        state = app_of(pilot).load_state
        assert state.overview is not None
        assert state.overview.capture.path.endswith(demo_trace().name)


def test_several_files_are_named_by_the_first_and_their_number(tmp_path: Path) -> None:
    assert Loading([tmp_path / "rank0.json", tmp_path / "rank1.json"]).title == (
        "rank0.json and 1 more"
    )
    assert Loading([tmp_path / "rank0.json"]).title == "rank0.json"
    assert Loading(tmp_path / "run").title == "run"
