"""Folders, patterns and lists of files as one trace; ranks; reading them side by side."""

import gzip
import json
import os
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from dctx.ingest.cache import entry_path
from dctx.ingest.detect import Content
from dctx.ingest.errors import CancelledError, NotATraceError, TraceError
from dctx.ingest.gather import Gathered, gather
from dctx.ingest.inputs import Source, Tell
from dctx.ingest.model import Severity
from dctx.ingest.parallel import scan_all
from dctx.ingest.progress import Done, Progress, silent
from dctx.ingest.ranks import assign_ranks, rank_in_name
from dctx.ingest.registry import open_trace
from dctx.ingest.selection import Asked, natural, select
from dctx.ingest.writer import StoreWriter
from tests.rocm_files import Rpd

EVENT = {"ph": "X", "cat": "cpu_op", "name": "mm", "pid": 1, "tid": 1, "ts": 1, "dur": 2}
KINETO = json.dumps({"schemaVersion": 1, "traceEvents": [EVENT]}).encode()
XSPACE = b"\x0a\x0b\x12\x09/host:CPU"
JAX = json.dumps(
    {"traceEvents": [{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "/host:CPU"}}]}
).encode()


class Reader:
    """Stands for the module that reads a set of contents; nothing is loaded here."""

    def __init__(self, *contents: Content, several: bool = True) -> None:
        self.READS = frozenset(contents)
        self.SEVERAL = several

    def load(
        self,
        sources: Sequence[Source],
        writer: StoreWriter,
        progress: Progress,
        salvage: bool = False,
    ) -> None:
        raise NotImplementedError


READERS = (
    Reader(Content.KINETO, Content.CHROME),
    Reader(Content.XPLANE, Content.JAX_TRACE),
    Reader(Content.NSYS, Content.PROTON, several=False),
)


def gathered(asked: Asked) -> Gathered:
    def format_of(source: Source) -> Reader:
        return next(reader for reader in READERS if source.content in reader.READS)

    with ExitStack() as stack:
        return gather(select(asked), stack, format_of, silent, cache=False)


def put(path: Path, data: bytes = KINETO) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


# ----------------------------------------------------------------------- selecting --


def test_a_folder_is_all_traces_directly_in_it(tmp_path: Path) -> None:
    for rank in range(12):
        put(tmp_path / f"rank{rank}.json.gz", gzip.compress(KINETO))
    put(tmp_path / "notes.json", b'{"batch": 8}')
    put(tmp_path / "train.log", b"loss")
    put(tmp_path / ".hidden.json")
    put(tmp_path / "capture" / "graph.json")
    (tmp_path / "circle.json").symlink_to("circle.json")
    (tmp_path / "nowhere.json").symlink_to("nothing.json")
    (tmp_path / "capture" / "up").symlink_to("..")
    parts = gathered(tmp_path)
    assert [source.label for source in parts.sources] == [f"rank{r}.json.gz" for r in range(12)]
    assert [source.rank for source in parts.sources] == list(range(12))
    assert parts.notes == [(Severity.INFO, "import", "Passed over: notes.json.")]


def test_a_rank_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    for rank in range(3):
        put(tmp_path / f"rank{rank}.json.gz", gzip.compress(KINETO))
    put(tmp_path / "rank3.json.gz", b"")
    put(tmp_path / "notes.json", b'{"batch": 8}')
    parts = gathered(tmp_path)
    assert [source.rank for source in parts.sources] == [0, 1, 2]
    [of_rank, of_other] = parts.notes
    assert of_rank[:2] == (Severity.WARNING, "ranks")
    assert "Not read, though named as a rank: rank3.json.gz: the file is empty" in of_rank[2]
    assert of_other == (Severity.INFO, "import", "Passed over: notes.json.")


def test_ranks_are_not_read_again_from_their_merged_trace(tmp_path: Path) -> None:
    for tp in (0, 1):
        put(tmp_path / f"1700-TP-{tp}-DP-0-PP-0-EP-0.trace.json.gz", gzip.compress(KINETO))
    put(tmp_path / "merged-1700.trace.json.gz", gzip.compress(KINETO))
    parts = gathered(tmp_path)
    assert len(parts.sources) == 2
    assert parts.notes == [
        (Severity.INFO, "import", "Passed over: merged-1700.trace.json.gz."),
    ]
    assert len(gathered(tmp_path / "merged-1700.trace.json.gz").sources) == 1


def test_a_folder_of_folders_is_looked_through(tmp_path: Path) -> None:
    for rank in (0, 1):
        put(tmp_path / f"rank_{rank}" / "trace.json")
    put(tmp_path / "config.json", b"{}")
    parts = gathered(tmp_path)
    assert [(s.label, s.rank) for s in parts.sources] == [
        (os.path.join("rank_0", "trace.json"), 0),
        (os.path.join("rank_1", "trace.json"), 1),
    ]


def test_a_folder_without_traces_says_what_it_holds(tmp_path: Path) -> None:
    with pytest.raises(NotATraceError, match="no trace in this folder"):
        select(tmp_path)
    put(tmp_path / "a.json", b'{"batch": 8}')
    with pytest.raises(NotATraceError, match=r"no trace in this folder; a.json: JSON without"):
        gathered(tmp_path)
    put(tmp_path / "b.json", b"")
    with pytest.raises(NotATraceError, match="no trace among the 2 files") as caught:
        open_trace(tmp_path)
    assert str(caught.value).startswith(str(tmp_path))


def test_of_a_jax_recording_only_the_xspace_is_read(tmp_path: Path) -> None:
    run = tmp_path / "plugins" / "profile" / "2026_01_01"
    put(run / "host0.xplane.pb", XSPACE)
    put(run / "host0.trace.json.gz", gzip.compress(JAX))
    put(run / "perfetto_trace.json.gz", gzip.compress(JAX))
    parts = gathered(tmp_path)
    assert [source.label for source in parts.sources] == ["host0.xplane.pb"]
    [(severity, _, text)] = parts.notes
    assert severity is Severity.INFO
    assert "host0.trace.json.gz, perfetto_trace.json.gz: the same recording" in text
    alone = gathered(run / "host0.trace.json.gz")
    assert alone.notes[0][2].startswith("host0.xplane.pb beside it is the same recording")
    put(run.with_name("2026_01_02") / "host0.xplane.pb", XSPACE)
    with pytest.raises(TraceError, match=r"several recordings .*2026_01_01, .*2026_01_02"):
        gathered(tmp_path)


def test_several_files_and_patterns(tmp_path: Path) -> None:
    paths = [put(tmp_path / f"rank{rank}.json") for rank in (10, 9)]
    assert [s.rank for s in gathered(paths).sources] == [10, 9]
    by_pattern = gathered(tmp_path / "rank*.json")
    assert [source.rank for source in by_pattern.sources] == [9, 10]
    twice = gathered([paths[0], paths[0], tmp_path / "rank9.*"])
    assert [source.rank for source in twice.sources] == [10, 9]
    with pytest.raises(TraceError, match="no file matches"):
        select(tmp_path / "x*.json")
    bracket = put(tmp_path / "rank[3].json")  # a name, not a pattern
    assert gathered(bracket).sources[0].rank == 3


def test_files_of_the_same_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    paths = [put(tmp_path / "run" / f"rank{rank}" / "t.json") for rank in (0, 1)]
    parts = gathered(paths)
    assert [(s.label, s.rank) for s in parts.sources] == [("rank0/t.json", 0), ("rank1/t.json", 1)]


def test_what_does_not_go_together_is_refused(tmp_path: Path) -> None:
    kineto, xspace = put(tmp_path / "a.json"), put(tmp_path / "b.pb", XSPACE)
    with pytest.raises(TraceError, match=r"several kinds .kineto: a.json; xplane: b.pb"):
        gathered([kineto, xspace])
    databases = [put(tmp_path / f"{name}.sqlite", b"SQLite format 3\0") for name in "ab"]
    with pytest.raises(TraceError, match=r"2 nsys traces .*do not make one"):
        gathered(databases)
    with pytest.raises(TraceError, match="folder among files"):
        select([kineto, tmp_path])
    with pytest.raises(TraceError, match="standard input"):
        select([kineto, Path("-")])
    with pytest.raises(TraceError, match="no such file"):
        open_trace([kineto, tmp_path / "missing.json"])
    named = put(tmp_path / "named.json", b"{}")
    with pytest.raises(NotATraceError, match=r"named.json.*JSON without events"):
        gathered([kineto, named])


def test_the_place_in_the_cache_depends_on_every_file(tmp_path: Path) -> None:
    for rank in (0, 1):
        put(tmp_path / "run" / f"rank{rank}.json")
    folder = tmp_path / "run"
    before = select(folder).entry("1")
    assert select(folder).entry("1") == before
    os.utime(folder / "rank1.json", ns=(1, 1))
    touched = select(folder).entry("1")
    assert touched != before
    put(folder / "rank2.json")
    grown = select(folder).entry("1")
    assert grown != touched
    # All of them are the same trace as it was at other times: the older ones can go.
    assert len({path.name.partition("-")[0] for path in (before, touched, grown)}) == 1
    put(folder / "train.log", b"step")
    assert select(folder).entry("1") == grown
    one = folder / "rank0.json"
    assert select(one).entry("1") == entry_path(one, "1")


def test_the_list_of_a_folder_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dctx.ingest.selection._MOST_FILES", 3)
    for rank in range(5):
        put(tmp_path / f"rank{rank}.json")
    with pytest.raises(NotATraceError, match="more than 3 files"):
        select(tmp_path)


def test_numbers_in_names_count() -> None:
    names = ["r10", "r9", "r1a", "r1", "q", "r9b10", "r9b9"]
    assert sorted(names, key=natural) == ["q", "r1", "r1a", "r9", "r9b9", "r9b10", "r10"]


# --------------------------------------------------------------------------- ranks --


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("rank0_trace.json.gz", 0),
        ("rank-70.Mar_25_20_48_12.2861.pt.trace.json.gz", 70),
        ("profile_trace_rank_3.json", 3),
        ("rank[12].json", 12),
        ("Rank7of8.json", 7),
        ("bs_32_rank0.json.gz", 0),
        ("graph_capture_rank_0.1773709742341309550.pt.trace.json.gz", 0),
        ("crank5.json", None),
        ("trace.json", None),
        ("rank1773709742341309550.json", None),
    ],
)
def test_ranks_in_names(name: str, rank: int | None) -> None:
    assert rank_in_name(Path("/rank9") / name) == rank


def sources_of(tmp_path: Path, *names: str) -> list[Source]:
    sources = [Source(put(tmp_path / name)) for name in names]
    for source in sources:
        source.rank = rank_in_name(source.path)
    return sources


def test_a_rank_in_the_file_is_believed_first(tmp_path: Path) -> None:
    sources = sources_of(tmp_path, "rank0.json", "rank1.json", "c.json")
    assert assign_ranks(sources, [5, None, 0]) == ([5, 1, 0], [])


def test_files_without_a_rank_are_numbered_and_that_is_told(tmp_path: Path) -> None:
    sources = sources_of(tmp_path, "a.json", "b.json")
    ranks, [(severity, _, text)] = assign_ranks(sources, [None, None])
    assert ranks == [0, 1]
    assert severity is Severity.WARNING
    assert text == (
        "Neither the file nor its name tells the rank of a.json, b.json: numbered in the order of "
        "the files."
    )


def test_a_file_without_a_rank_beside_ranks_has_none(tmp_path: Path) -> None:
    sources = sources_of(tmp_path, "rank0.json", "host.async_llm.json")
    ranks, [(severity, _, text)] = assign_ranks(sources, [None, None])
    assert ranks == [0, None]
    assert severity is Severity.INFO
    assert text.endswith("the rank of host.async_llm.json: shown without one.")


def test_equal_ranks_stay_and_are_told(tmp_path: Path) -> None:
    sources = sources_of(tmp_path, "a.json", "b.json", "c.json")
    ranks, [(severity, _, text)] = assign_ranks(sources, [0, 0, 1])
    assert ranks == [0, 0, 1]
    assert severity is Severity.WARNING
    assert text == "2 files are rank 0 (a.json, b.json): they are kept apart."


def test_one_file_needs_no_rank(tmp_path: Path) -> None:
    [source] = sources_of(tmp_path, "a.json")
    assert assign_ranks([source], [None]) == ([None], [])


# ------------------------------------------------------------------ side by side --


def test_compressed_databases_are_unpacked_in_parts_of_the_whole(tmp_path: Path) -> None:
    database = tmp_path / "t.rpd"
    rpd = Rpd(database)
    rpd.api("hipLaunchKernel", 0, 5, ident=1)
    rpd.close()
    for rank in range(2):
        put(tmp_path / "ranks" / f"rank{rank}.rpd.gz", gzip.compress(database.read_bytes()))
    told: list[tuple[str, Done]] = []

    def progress(stage: str, done: Done) -> None:
        told.append((stage, done))

    open_trace(tmp_path / "ranks", progress=progress, cache=False).close()
    unpacked = [done for stage, done in told if stage == "Unpacking"]
    assert 0.15 in unpacked  # the first of two files of one size; unpacking is 30 % of all
    assert unpacked[-1] == 0.3
    fractions = [done for _, done in told if isinstance(done, float)]
    assert fractions == sorted(fractions)
    assert fractions[-1] > 0.3


def test_files_are_scanned_in_order_and_progress_grows(tmp_path: Path) -> None:
    sources = sources_of(tmp_path, "a.json", "b.json", "c.json")
    told: list[float] = []
    main = threading.get_ident()

    def progress(stage: str, done: Done) -> None:
        assert (stage, threading.get_ident()) == ("Reading", main)
        assert isinstance(done, float)
        told.append(done)

    def scan(source: Source, tell: Tell) -> tuple[str, bytes]:
        return source.label, source.read_all(tell)

    results = scan_all(sources, scan, progress, "Reading", 0.2, 0.6)
    assert results == [(name, KINETO) for name in ("a.json", "b.json", "c.json")]
    assert told == sorted(told)
    assert abs(told[-1] - 0.6) < 1e-9
    assert min(told) >= 0.2


def test_a_failure_or_cancelling_stops_all(tmp_path: Path) -> None:
    sources = sources_of(tmp_path, "a.json", "b.json")
    stopped: list[str] = []

    def endless(source: Source, tell: Tell) -> None:
        try:
            while True:
                tell(0.5)
        except CancelledError:
            stopped.append(source.label)
            raise

    def cancel(stage: str, done: Done) -> None:
        raise CancelledError

    with pytest.raises(CancelledError):
        scan_all(sources, endless, cancel, "Reading", 0.0, 1.0)
    assert sorted(stopped) == ["a.json", "b.json"]
    stopped.clear()

    def one_fails(source: Source, tell: Tell) -> None:
        if source.label == "b.json":
            raise TraceError(source.path, "broken.", "")
        endless(source, tell)

    with pytest.raises(TraceError, match="broken"):
        scan_all(sources, one_fails, silent, "Reading", 0.0, 1.0)
    assert stopped == ["a.json"]


def test_damage_is_told_with_its_place(tmp_path: Path) -> None:
    cut = KINETO[:-20]
    for rank, data in enumerate((KINETO, cut, KINETO, cut)):
        put(tmp_path / f"rank{rank}.json", data)
    start = cut.index(b'{"ph"')

    def note_of(asked: Path) -> str:
        store = open_trace(asked, cache=False)
        with store.cursor() as cursor:
            [(text,)] = cursor.execute("SELECT text FROM note WHERE text LIKE '%cut%'").fetchall()
        store.close()
        return str(text)

    many = f"First at byte {start} of rank1.json, the first of 2 files with it."
    assert note_of(tmp_path).endswith(many)
    assert note_of(tmp_path / "rank1.json").endswith(f"First at byte {start}.")
