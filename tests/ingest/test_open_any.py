"""Opening whatever a user may name, from the file to the store: one, several, compressed, cut."""

import gzip
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from dctx.ingest.detect import Content
from dctx.ingest.errors import CancelledError, NotATraceError, TraceError
from dctx.ingest.progress import Done
from dctx.ingest.registry import import_trace, open_trace, recent_traces
from dctx.ingest.store import Store

US = 1_000


def events(rank: int, count: int = 3) -> list[dict[str, Any]]:
    """Operators of 10 µs, and for each a launch and a kernel of 5 µs."""
    found: list[dict[str, Any]] = []
    for i in range(count):
        place = {"pid": 40 + rank, "tid": 40 + rank, "ph": "X"}
        ts = 100.0 * i
        found += [
            {**place, "cat": "cpu_op", "name": "aten::mm", "ts": ts, "dur": 10},
            {
                **place,
                "cat": "cuda_runtime",
                "name": "cudaLaunchKernel",
                "ts": ts + 1,
                "dur": 2,
                "args": {"correlation": i + 1},
            },
            {
                "ph": "X",
                "pid": 0,
                "tid": 7,
                "cat": "kernel",
                "name": "gemm",
                "ts": ts + 20,
                "dur": 5,
                "args": {"correlation": i + 1, "device": 0, "stream": 7},
            },
        ]
    return found


def text(rank: int = 0, own: int | None = None, count: int = 3) -> bytes:
    trace: dict[str, Any] = {"schemaVersion": 1, "traceEvents": events(rank, count)}
    if own is not None:
        trace["distributedInfo"] = {"rank": own, "world_size": 2, "backend": "nccl"}
    return json.dumps(trace).encode()


def ask(store: Store, question: str) -> list[tuple[Any, ...]]:
    with store.cursor() as cursor:
        return cursor.execute(question).fetchall()


GPU = "SELECT count(*), sum(dur_ns)::BIGINT FROM gpu_op"
RANKS = "SELECT rank, name FROM process ORDER BY rank, name"
NOTES = "SELECT text FROM note ORDER BY text"


@pytest.fixture
def ranks(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    folder.mkdir()
    for rank in (0, 1):
        (folder / f"rank{rank}.json.gz").write_bytes(gzip.compress(text(rank)))
    return folder


def test_rank_files_are_one_trace_and_cached_as_one(ranks: Path, tmp_path: Path) -> None:
    stages: list[str] = []
    for _ in range(2):
        stages.clear()
        store = open_trace(ranks, progress=lambda stage, _: stages.append(stage))
        assert ask(store, GPU) == [(6, 6 * 5 * US)]
        assert [rank for rank, _ in ask(store, RANKS)] == [0, 1]
        assert ask(store, "SELECT count(*) FROM device") == [(2,)]
        facts = dict(ask(store, "SELECT key, value FROM trace"))
        assert facts["source_path"] == str(ranks)
        assert (facts["sources"], facts["format"]) == ("2", "kineto")
        assert int(facts["source_size_bytes"]) == sum(p.stat().st_size for p in ranks.iterdir())
        store.close()
    assert stages == []
    assert [recent.paths for recent in recent_traces()] == [(ranks,)]
    (ranks / "rank2.json").write_bytes(text(2))
    store = open_trace(ranks)
    assert [rank for rank, _ in ask(store, RANKS)] == [0, 1, 2]
    store.close()
    assert len([p for p in (tmp_path / "cache").iterdir() if p.suffix == ".dctx"]) == 1


def test_files_named_one_by_one_are_opened_again_from_the_list(ranks: Path) -> None:
    files = sorted(ranks.iterdir())
    open_trace(files).close()
    open_trace(ranks / "rank*.gz").close()  # the same files by their pattern
    [recent] = recent_traces()
    assert recent.paths == tuple(files)
    open_trace(recent.paths).close()


def test_equal_ranks_are_kept_apart_and_told(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.json").write_bytes(text(0, own=0))
    store = open_trace([tmp_path / "a.json", tmp_path / "b.json"])
    assert [rank for rank, _ in ask(store, RANKS)] == [0, 0]
    assert ask(store, GPU) == [(6, 6 * 5 * US)]
    assert any("2 files are rank 0 (a.json, b.json)" in note for (note,) in ask(store, NOTES))
    store.close()


def test_a_cut_rank_does_not_cost_the_others(ranks: Path) -> None:
    packed = gzip.compress(text(1, count=500))
    (ranks / "rank1.json.gz").write_bytes(packed[: len(packed) // 2])
    store = open_trace(ranks)
    [(kernels,)] = ask(store, "SELECT count(*) FROM gpu_op")
    assert 3 < kernels < 503
    facts = dict(ask(store, "SELECT key, value FROM trace"))
    assert facts["truncated_gz"] == "1"
    notes = [note for (note,) in ask(store, NOTES)]
    assert "rank1.json.gz: the gzip stream is cut; what comes before that is shown." in notes
    store.close()


def test_a_trace_cut_at_any_byte_opens_or_says_why(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    whole = text()
    kernels = 0
    for end in (*range(0, len(whole), 23), len(whole)):  # the scan's own tests: at every byte
        path.write_bytes(whole[:end])
        try:
            store = open_trace(path, cache=False)
        except NotATraceError:
            assert kernels == 0
            continue
        [(found,)] = ask(store, "SELECT count(*) FROM gpu_op")
        store.close()
        assert found >= kernels
        kernels = found
    assert kernels == 3


def test_only_cpu_events_open_and_say_why_there_is_no_gpu(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    host = [event for event in events(0) if event["cat"] == "cpu_op"]
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": host}))
    store = open_trace(path)
    facts = dict(ask(store, "SELECT key, value FROM trace"))
    assert facts["capability.gpu_work"].startswith("only CPU events: record with activities=")
    assert ask(store, "SELECT count(*) FROM host_event") == [(3,)]
    store.close()


def test_a_full_disk_means_memory(ranks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.statvfs

    def full(path: Any) -> os.statvfs_result:
        return os.statvfs_result((*real(path)[:4], 0, *real(path)[5:]))

    monkeypatch.setattr(os, "statvfs", full)
    store = open_trace(ranks)
    assert store.path is None
    assert ask(store, GPU) == [(6, 6 * 5 * US)]
    assert any("kept in memory only" in note for (note,) in ask(store, NOTES))
    store.close()


def test_a_file_still_being_written_is_told(ranks: Path, tmp_path: Path) -> None:
    done: list[bool] = []

    def grow(stage: str, _: Done) -> None:
        if not done and stage != "Looking at the files":
            done.append(True)
            with (ranks / "rank1.json.gz").open("ab") as file:
                file.write(gzip.compress(b" "))

    with pytest.raises(TraceError, match=r"rank1.json.gz: file changed while reading"):
        open_trace(ranks, progress=grow)
    assert not list((tmp_path / "cache").iterdir())


def test_cancelling_anywhere_leaves_nothing(ranks: Path, tmp_path: Path) -> None:
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    open_trace(ranks, progress=count, cache=False).close()
    for at in range(1, calls, 2):
        left = at

        def cancel(*_: object) -> None:
            nonlocal left
            left -= 1
            if left <= 0:
                raise CancelledError

        with pytest.raises(CancelledError):
            open_trace(ranks, progress=cancel)
        folder = tmp_path / "cache"
        assert not folder.exists() or not list(folder.iterdir())


def test_the_files_are_only_read(ranks: Path) -> None:
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in ranks.iterdir()}
    for path in ranks.iterdir():
        path.chmod(0o400)
    open_trace(ranks).close()
    assert {
        path: (path.read_bytes(), path.stat().st_mtime_ns) for path in ranks.iterdir()
    } == before


def test_importing_a_folder_gives_one_store(ranks: Path, tmp_path: Path) -> None:
    output = tmp_path / "kept.dctx"
    import_trace(ranks, output)
    shutil.rmtree(ranks)
    store = open_trace(output)
    assert ask(store, GPU) == [(6, 6 * 5 * US)]
    store.close()


# ---------------------------------------------------------------------- real files --

CORPUS = os.environ.get("DCTX_TRACES", "")
FORMATS = {
    "jax/cpu-train-jax0.10": Content.XPLANE,
    "multirank/v100-dlrm-8rank": Content.KINETO,
    "torch-edge/multi-member.json.gz": Content.KINETO,
    "torch-edge/truncated.json.gz": Content.KINETO,
    "torch-edge/chrome/simple-partial.json": Content.CHROME,
    "rocm/matmul-rpd-export.json": Content.CHROME,
    "rocm/matmul.rpd": Content.RPD,
    "rocm/mi300x-qwen.rocpd.db": Content.ROCPD,
    "rocm/mi300x-rocprofv3-results.json.gz": Content.ROCPROFV3,
    "proton/cuda-two-devices.hatchet": Content.PROTON,
}


@pytest.mark.skipif(not CORPUS, reason="DCTX_TRACES is not set")
@pytest.mark.parametrize("name", FORMATS)
def test_a_real_file_is_opened_as_what_it_is(name: str) -> None:
    store = open_trace(Path(CORPUS) / name)
    facts = dict(ask(store, "SELECT key, value FROM trace"))
    assert facts["format"] == FORMATS[name]
    assert facts["complete"] == "1"
    store.close()


@pytest.mark.skipif(not CORPUS, reason="DCTX_TRACES is not set")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("torch-edge/execution-trace-et.json.gz", "an execution trace"),
        ("torch-edge/speedscope-0.0.1-simple.json", "speedscope"),
        ("ncu/mojo-kernel.ncu-rep", "Nsight Compute"),
        ("nsys", "do not make one"),
        ("ncu", "no trace in this folder; mojo-kernel.ncu-rep: this is a report of Nsight Compute"),
    ],
)
def test_a_real_file_that_is_no_trace_is_refused_by_its_name(name: str, words: str) -> None:
    with pytest.raises(TraceError, match=words):
        open_trace(Path(CORPUS) / name)
