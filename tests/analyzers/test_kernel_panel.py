"""The panel of one kernel over a store written by hand."""

from collections.abc import Generator
from importlib.resources import files

import duckdb
import pytest

from dctx.analyzers.kernel_panel import KernelPanel, kernel_panel
from dctx.analyzers.kernel_samples import hot_lines, hot_places
from dctx.ingest.model import GpuKind
from dctx.queries.kernel_panel import outliers
from dctx.queries.kernels import OpSelection, op_stats
from dctx.queries.trace import NotReadyError, Trace
from dctx.reports.kernel_panel import kernel_panel_text, occupancy_sentence, waves_sentence
from tests.near import near
from tests.queries.conftest import MemoryStore

DURATIONS = (100, 100, 110, 110, 120, 120, 130, 130, 500, 900)
"""Quartiles 110, 120, 130: slow is above 130 + 3 · 20 = 190 (and above 180)."""

STORE = f"""
INSERT INTO string VALUES (0, 'gemm'), (1, 'stream 7'), (2, 'python');
INSERT INTO device VALUES
  (0, 0, NULL, 0, 'H100', NULL, NULL, 132, NULL, NULL, NULL, 9, 0, false),
  (1, 1, NULL, 1, 'AMD Instinct MI300X', NULL, NULL, 304, NULL, NULL, NULL, 9, 4, false),
  (2, 2, NULL, 2, 'unknown', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, false);
INSERT INTO lane VALUES (0, 2, 0, 0, NULL, 1, NULL, 7, 'stream 7');
INSERT INTO op_stat VALUES (0, 0, 0, false, 10, {sum(DURATIONS)}, 100, 900, NULL, NULL);
INSERT INTO launch_config (id, grid_x, grid_y, grid_z, block_x, block_y, block_z,
    registers_per_thread, static_shared_bytes, dynamic_shared_bytes, shared_bytes)
  VALUES (0, 300, 1, 1, 128, 1, 1, 246, 0, 65536, NULL),
  (1, 8, 1, 1, 64, 1, 1, NULL, NULL, NULL, 0);
INSERT INTO gpu_op (id, kind, device, lane, start_ns, dur_ns, name, config, node) VALUES
""" + ",".join(
    f"({i}, 0, 0, 0, {i * 1000}, {ns}, 0, {0 if i else 1}, NULL)" for i, ns in enumerate(DURATIONS)
)


@pytest.fixture
def trace() -> Generator[Trace]:
    connection = duckdb.connect()
    connection.execute((files("dctx.ingest") / "schema.sql").read_text(encoding="utf-8"))
    connection.execute(STORE)
    store = MemoryStore(connection)
    yield Trace(store)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    store.close()


def _panel(trace: Trace) -> KernelPanel:
    [op] = op_stats(trace, kinds=(GpuKind.KERNEL,))
    return kernel_panel(trace, op)


def test_outliers_are_beyond_the_outer_fence(trace: Trace) -> None:
    found = outliers(trace, OpSelection(name_id=0), 1)
    assert found is not None
    assert (found.launches, found.median_ns, found.above_ns) == (10, 120.0, 190.0)
    assert (found.count, found.excess_ns) == (2, 500 + 900 - 2 * 120)
    assert [(one.start_ns, one.dur_ns, one.stream) for one in found.slowest] == [
        (9000, 900, "stream 7")
    ]
    assert outliers(trace, OpSelection(name_id=7), 1) is None


def test_equal_launches_have_no_outliers(trace: Trace) -> None:
    trace.store.connection.execute("UPDATE gpu_op SET dur_ns = 100")  # type: ignore[attr-defined]  # pyright: ignore
    found = outliers(trace, OpSelection(name_id=0), 5)
    assert found is not None
    assert (found.above_ns, found.count, found.excess_ns, found.slowest) == (150.0, 0, 0, ())


def test_shapes_sum_to_the_kernel(trace: Trace) -> None:
    panel = _panel(trace)
    assert sum(use.shape.count for use in panel.shapes) == panel.op.count
    assert sum(use.shape.sum_ns for use in panel.shapes) == panel.op.sum_ns
    first, second = panel.shapes
    assert first.occupancy is not None
    assert (first.occupancy.blocks, first.shape.shared_bytes) == (2, 65_536)
    assert first.waves is not None
    assert (first.waves.slots, first.waves.last_blocks) == (264, 36)
    assert second.shape.shared_bytes == 0
    assert second.no_occupancy == "the trace does not tell the kernel's registers"


def test_words(trace: Trace) -> None:
    panel = _panel(trace)
    first, second = panel.shapes
    assert "at most 12.5 %, limited by registers: 2 blocks fit" in occupancy_sentence(first)
    assert "The last wave has 36: up to 43.2 % of" in waves_sentence(first)
    assert occupancy_sentence(second).startswith("Occupancy: n/a, the trace does not tell")
    text = kernel_panel_text(panel, width=80)
    assert "2 of 10 launches took more than 190 ns (median 120 ns): 1.16 µs beyond" in text
    assert panel.collect in text
    assert all(len(line) <= 80 for line in text.splitlines() if panel.collect not in line)


@pytest.mark.parametrize(
    ("device", "why"), [(1, "ROCm do not tell all registers"), (2, "compute capability")]
)
def test_unknown_hardware_is_said(trace: Trace, device: int, why: str) -> None:
    trace.store.connection.execute(f"UPDATE gpu_op SET device = {device}")  # type: ignore[attr-defined]  # pyright: ignore
    use = _panel(trace).shapes[0]
    assert use.occupancy is None
    assert why in use.no_occupancy
    assert use.no_waves == use.no_occupancy


IMPOSSIBLE = {
    "no registers": ("registers_per_thread = 0", "does not tell the kernel's registers"),
    "a block too large": ("block_x = 2048", "a block of 2,048 threads cannot run"),
    "an empty block": ("block_x = 0", "a block of 0 threads cannot run"),
    "too many registers": ("registers_per_thread = 300", "do not fit once"),
    "too much shared memory": ("dynamic_shared_bytes = 300000", "do not fit once"),
    "no shape": ("grid_x = NULL, block_x = NULL", "does not tell the launch shape"),
}


@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_impossible_shapes_are_said(trace: Trace, case: str) -> None:
    change, why = IMPOSSIBLE[case]
    _execute(trace, f"UPDATE launch_config SET {change} WHERE id = 0")
    panel = _panel(trace)
    use = panel.shapes[0]
    assert use.occupancy is None
    assert use.waves is None
    assert why in use.no_occupancy
    assert why in " ".join(kernel_panel_text(panel, width=80).split())


def test_the_largest_grid_that_cuda_launches(trace: Trace) -> None:
    change = f"grid_x = {2**31 - 1}, grid_y = 65535, grid_z = 65535"
    _execute(trace, f"UPDATE launch_config SET {change} WHERE id = 0")
    panel = _panel(trace)
    found = panel.shapes[0].waves
    assert found is not None
    assert found.blocks == (2**31 - 1) * 65535**2
    assert 0 <= found.idle_share < 1e-12
    assert all(
        len(line) <= 80
        for line in kernel_panel_text(panel, width=80).splitlines()
        if panel.collect not in line
    )


def test_a_trace_without_shapes(trace: Trace) -> None:
    _execute(trace, "UPDATE gpu_op SET config = NULL; DELETE FROM launch_config")
    panel = _panel(trace)
    assert panel.shapes == ()
    assert "Launch shapes: n/a" in kernel_panel_text(panel, width=80)


def test_thousands_of_instructions(trace: Trace) -> None:
    """Of 10,000 instructions with 1 … 10,000 samples on 100 lines the heaviest are shown."""
    _execute(
        trace,
        """INSERT INTO string VALUES (3, '/gone/k.cu'), (4, 'wait');
        INSERT INTO instruction (id, kernel, offset_bytes, file, line)
          SELECT i, 0, 16 * i, 3, i % 100 + 1 FROM range(10000) t(i);
        INSERT INTO stall (instruction, reason, samples, spread)
          SELECT i, 4, i + 1, false FROM range(10000) t(i)""",
    )
    panel = _panel(trace)
    samples = panel.samples
    assert samples is not None
    assert samples.total == 10_000 * 10_001 // 2
    assert [hot.place.at for hot in hot_places(samples)][:2] == [hex(16 * 9999), hex(16 * 9998)]
    lines = hot_lines(samples, most=100)
    assert lines[0].place.line == 100
    assert sum(hot.share for hot in lines) == near(1)
    text = kernel_panel_text(panel, width=80)
    assert "k.cu:100" in text
    assert "(not on this machine)" in text
    assert len(text.splitlines()) < 80
    assert all(len(line) <= 80 for line in text.splitlines())


def _execute(trace: Trace, sql: str) -> None:
    trace.store.connection.execute(sql)  # type: ignore[attr-defined]  # pyright: ignore


def test_events_being_loaded(trace: Trace) -> None:
    trace.store.events_ready = False
    with pytest.raises(NotReadyError):
        _panel(trace)
