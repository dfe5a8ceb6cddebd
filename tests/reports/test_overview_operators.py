"""The operators in the text overview of a hand-made PyTorch step."""

from pathlib import Path

from dctx.ingest.registry import open_trace
from dctx.queries.overview import overview
from dctx.queries.trace import Trace
from dctx.reports.overview import overview_text
from tests.kineto_files import op, write_json
from tests.torch_step import write_step


def text_of(path: Path) -> list[str]:
    store = open_trace(path, cache=False)
    lines = overview_text(overview(Trace(store))).splitlines()
    store.close()
    return lines


def test_by_gpu_work(tmp_path: Path) -> None:
    lines = text_of(write_step(tmp_path / "t.json"))
    at = lines.index("Top operators by the GPU work they launch themselves")
    assert [line.split() for line in lines[at + 1 : at + 5]] == [
        ["share", "GPU", "host", "calls", "name"],
        ["85.4", "%", "70.0", "µs", "110", "µs", "2", "aten::mm"],
        ["8.5", "%", "7.00", "µs", "60.0", "µs", "2", "aten::add"],
        ["6.1", "%", "5.00", "µs", "20.0", "µs", "1", "aten::relu"],
    ]


def test_by_host_time_without_gpu_work(tmp_path: Path) -> None:
    lines = text_of(write_json(tmp_path / "t.json", [op("aten::" + "x" * 100, 0, 100)]))
    at = lines.index("Top operators by their own host time")
    assert "n/a" in lines[at + 2]
    assert len(lines[at + 2]) <= 80
