"""A small store filled by hand: two GPUs, one thread, one annotation, three kernels by name."""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from importlib.resources import files
from pathlib import Path

import duckdb
import pytest

from dctx.queries.trace import Trace


class MemoryStore:
    """The part of a store that queries use, over an in-memory database."""

    path: Path | None = None
    source = Path("hand.sqlite")

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection
        self.events_ready = True

    @contextmanager
    def cursor(self) -> Generator[duckdb.DuckDBPyConnection]:
        with self.connection.cursor() as cursor:
            yield cursor

    def close(self) -> None:
        self.connection.close()


def _empty() -> MemoryStore:
    connection = duckdb.connect()
    connection.execute((files("dctx.ingest") / "schema.sql").read_text(encoding="utf-8"))
    return MemoryStore(connection)


@contextmanager
def _open(sql: str = "") -> Generator[Trace]:
    store = _empty()
    if sql:
        store.connection.execute(sql)
    yield Trace(store)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    store.close()


SMALL = """
INSERT INTO trace VALUES
  ('source_path', '/data/run.sqlite'), ('source_size_bytes', '4096'), ('format', 'nsys sqlite'),
  ('producer', 'Nsight Systems'), ('producer_version', '2024.5'), ('schema_version', '3.11.1'),
  ('reader', 'page reader'), ('span_ns', '2000'), ('start_utc_ns', ''),
  ('gpu_window_start_ns', '100'), ('gpu_window_end_ns', '1100'),
  ('rows.NVTX_EVENTS', '3'), ('rows.CUPTI_ACTIVITY_KIND_KERNEL', '5'),
  ('unused.NVTX_EVENTS.category', '1'), ('orphans.kernel', '1');
INSERT INTO note VALUES (1, 'import', 'one thing'), (3, 'capture', 'lost events'),
  (2, 'import', 'another thing');
INSERT INTO string VALUES (0, 'run.sqlite'), (1, 'python3'), (2, 'thread 7'), (3, 'step'),
  (4, 'cudaLaunchKernel'), (5, 'gemm'), (6, 'ncclAllReduce'), (7, 'memcpy HtoD'),
  (8, 'cudaMemcpyAsync'), (9, '[launch not recorded]'), (10, 'lib.so'), (11, 'Forward'),
  (12, 'void gemm<float>(int)');
INSERT INTO process VALUES (0, 1, 77, 'python3', NULL);
INSERT INTO device VALUES
  (0, 0, NULL, 0, 'H100', NULL, NULL, 132, NULL, NULL, NULL, 9, 0, false),
  (1, 1, NULL, 1, 'H100', NULL, NULL, 132, NULL, NULL, NULL, 9, 0, true);
INSERT INTO lane VALUES (0, 0, 0, NULL, 7, NULL, NULL, NULL, 'thread 7'),
  (1, 2, 0, 0, NULL, 1, NULL, 13, 'stream 13'), (2, 2, 0, 1, NULL, 1, NULL, 13, 'stream 13');
INSERT INTO frame VALUES (0, 0, 0, NULL, NULL), (1, 1, 1, NULL, NULL), (2, 2, 2, NULL, NULL),
  (3, 3, 3, NULL, NULL), (4, 5, 4, NULL, NULL), (5, 6, 5, NULL, NULL), (6, 6, 6, NULL, NULL),
  (7, 5, 8, NULL, NULL), (8, 7, 7, NULL, NULL), (9, 10, 9, NULL, NULL), (10, 4, 11, 10, 42);
-- 0 run > 1 python3 > 2 thread > 3 step > 4 launch > 5 gemm, 6 nccl;  7 memcpyAsync > 8 memcpy
--                             > 9 Forward > 10 launch > 11 gemm;      12 not recorded > 13 gemm
INSERT INTO path_node VALUES
  (0, NULL, 0, 0, 13), (1, 0, 1, 1, 13), (2, 1, 2, 2, 11), (3, 2, 3, 3, 8), (4, 3, 4, 4, 6),
  (5, 4, 5, 5, 5), (6, 4, 5, 6, 6), (7, 3, 4, 7, 8), (8, 7, 5, 8, 8), (9, 2, 3, 10, 11),
  (10, 9, 4, 4, 11), (11, 10, 5, 5, 11), (12, 1, 2, 9, 13), (13, 12, 3, 5, 13);
INSERT INTO path_metric (node, device, calls, launches, host_ns, host_dur_min_ns, host_dur_max_ns,
                         host_dur_sum_ns, host_dur_sumsq) VALUES
  (3, NULL, 2, 0, 300, 200, 300, 500, 130000), (4, NULL, 3, 3, 150, 40, 60, 150, 7700),
  (7, NULL, 1, 0, 50, 50, 50, 50, 2500), (10, NULL, 1, 1, 20, 20, 20, 20, 400);
INSERT INTO path_metric (node, device, gpu_ops, kernels, gpu_ns, gpu_min_ns, gpu_max_ns, gpu_sumsq,
                         bytes) VALUES
  (5, 0, 2, 2, 300, 100, 200, 50000, NULL), (6, 1, 1, 1, 400, 400, 400, 160000, NULL),
  (8, 0, 1, 0, 50, 50, 50, 2500, 1024), (11, 0, 1, 1, 100, 100, 100, 10000, NULL),
  (13, 1, 1, 1, 150, 150, 150, 22500, NULL);
INSERT INTO op_stat VALUES
  (0, 0, 5, false, 3, 400, 100, 200, 60000, NULL), (1, 0, 5, false, 1, 150, 150, 150, 22500, NULL),
  (1, 0, 6, true, 1, 400, 400, 400, 160000, NULL), (0, 1, 7, false, 1, 50, 50, 50, 2500, 1024),
  (0, 4, 8, false, 1, 900, 900, 900, 810000, NULL);
INSERT INTO device_time VALUES (0, 0, 400), (0, 1, 0), (0, 2, 50), (0, 3, 550),
  (1, 0, 150), (1, 1, 400), (1, 2, 0), (1, 3, 450);
INSERT INTO device_busy VALUES (0, 400, 3, 400, 100, 700), (1, 550, 2, 550, 300, 1100);
INSERT INTO launch_config (id, grid_x, grid_y, grid_z, block_x, block_y, block_z,
    registers_per_thread, static_shared_bytes, dynamic_shared_bytes, local_bytes_per_thread)
  VALUES (0, 8, 1, 1, 128, 1, 1, 40, 0, 1024, 0),
  (1, 16, 2, 1, 256, 1, 1, 64, 512, 0, 0);
INSERT INTO gpu_op (id, kind, device, lane, start_ns, dur_ns, name, full_name, correlation, launch,
    node, config, bytes, graph_node, graph) VALUES
  (0, 0, 0, 1, 100, 100, 5, 12, 1, 1, 5, 0, NULL, NULL, NULL),
  (1, 0, 0, 1, 300, 200, 5, 12, 2, 2, 5, 1, NULL, NULL, NULL),
  (2, 0, 0, 1, 600, 100, 5, 12, 5, 5, 11, 0, NULL, NULL, NULL),
  (3, 0, 1, 2, 300, 400, 6, NULL, 3, 3, 6, 1, NULL, NULL, NULL),
  (4, 0, 1, 2, 950, 150, 5, 12, 9, NULL, 13, 0, NULL, NULL, NULL),
  (5, 1, 0, 1, 200, 50, 7, NULL, 4, 4, 8, NULL, 1024, NULL, NULL),
  (6, 4, 0, 1, 0, 900, 8, NULL, 6, 6, NULL, NULL, NULL, NULL, NULL);
"""


@pytest.fixture
def small() -> Generator[Trace]:
    """The small trace; its totals are stated in the tests."""
    with _open(SMALL) as trace:
        yield trace


@pytest.fixture
def empty() -> Generator[Trace]:
    """A store with no rows at all."""
    with _open() as trace:
        yield trace


@pytest.fixture
def build() -> Callable[[str], AbstractContextManager[Trace]]:
    """Open a store filled by SQL, as a context manager."""
    return _open
