"""JAX recordings written field by field, opened as a user would."""

import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dctx.ingest.model import GpuKind, HostKind
from dctx.ingest.registry import open_trace
from dctx.ingest.store import Store
from tests.xplane_file import (
    Plane,
    Ref,
    Stacks,
    Unsigned,
    computation,
    hlo_proto,
    instruction,
    number,
    space,
)

US = 1_000_000  # ps

MAIN = ("train.py", "<module>", 40)
STEP = ("train.py", "train_step", 20)
LOSS = ("train.py", "loss_fn", 12)


@contextmanager
def opened(tmp_path: Path, *files: bytes) -> Generator[Store]:
    paths = [tmp_path / f"host{i}.xplane.pb" for i in range(len(files))]
    for path, data in zip(paths, files, strict=True):
        path.write_bytes(data)
    store = open_trace(paths if len(paths) > 1 else paths[0], cache=False)
    try:
        yield store
    finally:
        store.close()


def rows(store: Store, sql: str) -> list[tuple[Any, ...]]:
    with store.cursor() as cursor:
        return cursor.execute(sql).fetchall()


def facts(store: Store) -> dict[str, str]:
    return dict(rows(store, "SELECT key, value FROM trace"))


def tree(store: Store) -> dict[tuple[str, ...], tuple[int | None, int | None]]:
    """(inclusive GPU ns, inclusive host ns) by the names from below the process."""
    found = rows(store, "SELECT id, parent, name, gpu_ns, host_ns FROM paths ORDER BY id")
    names: dict[int, tuple[str, ...]] = {}
    for node, parent, name, *_ in found:
        names[node] = (*names[parent], name) if parent is not None else ()
    return {names[node][1:]: (gpu, host) for node, _, _, gpu, host in found if len(names[node]) > 1}


def modules(stacks: Stacks | None = None, program: bool = True) -> Plane:
    """One module, jit_train_step(30): a fusion of two parts, a backward dot, a loop."""
    stacks = stacks or Stacks()
    step = stacks.path(MAIN, STEP)
    loss = stacks.frame(*LOSS, parent=step)
    fused = computation(
        2,
        "fused",
        instruction("p", "parameter"),
        instruction("mul.1", "multiply", "jit(train_step)/jvp()/mul", stack=loss),
        instruction("add.1", "add", "jit(train_step)/jvp()/add", stack=step),
    )
    body = computation(3, "body", instruction("neg.5", "negate", "jit(train_step)/neg", stack=loss))
    entry = computation(
        1,
        "main",
        instruction("fusion.1", "fusion", calls=[2]),
        instruction("dot.2", "dot", "jit(train_step)/transpose(jvp())/dot", stack=loss),
        instruction("copy.3", "copy", source=("data.py", 7)),
        instruction("while.4", "while", "jit(train_step)/while", stack=step, calls=[3]),
        instruction("named.6", "add", "jit(train_step)/jvp()/mystery"),
    )
    plane = Plane("/host:metadata")
    proto = hlo_proto("jit_train_step", fused, body, entry, key=30 if program else 0, stacks=stacks)
    plane.event_metadata("jit_train_step(30)", **{"Hlo_Proto": proto})
    plane.plane_stats(jax_version="0.10.2")
    return plane


def thunk(plane: Plane, op: str, start_us: int, dur_us: int, **more: Any) -> bytes:
    names = {"hlo_op": Ref(op), "hlo_module": Ref("jit_train_step"), "program_id": 30}
    return plane.event(op, start_us * US, dur_us * US, **{**names, **more})


def test_cpu_thunks_hang_below_the_source_lines_of_their_function(tmp_path: Path) -> None:
    host = Plane("/host:CPU")
    host.line(
        "tf_XLAEigen/-317",
        0,
        host.event("ThunkExecutor::Execute", 0, 100 * US),
        thunk(host, "fusion.1", 10, 20),
        host.event("end: fusion.1", 30 * US, 1 * US),
        thunk(host, "dot.2", 40, 5),
        thunk(host, "copy.3", 50, 3),
    )
    host.line("tf_XLAEigen/18", 0, thunk(host, "dot.2", 10, 7), thunk(host, "named.6", 20, 1))
    with opened(tmp_path, space(modules(), host)) as store:
        found = tree(store)
        below = ("tf_XLAEigen", "ThunkExecutor::Execute", "jit(train_step)")
        # fusion.1 has no source of its own: its last part that has one tells.
        assert found[(*below, "train_step", "fusion.1")] == (None, 20_000)
        assert found[(*below, "train_step", "loss_fn", "[backward]", "dot.2")] == (None, 5_000)
        assert found[(*below, "data.py:7", "copy.3")] == (None, 3_000)
        # Both threads of the pool share a node; here nothing is around the thunks.
        alone = ("tf_XLAEigen", "jit(train_step)")
        assert found[(*alone, "train_step", "loss_fn", "[backward]", "dot.2")] == (None, 7_000)
        assert found[(*alone, "jit(train_step)/jvp()/mystery", "named.6")] == (None, 1_000)
        assert found[("tf_XLAEigen",)] == (None, 108_000)
        place = rows(store, "SELECT file, line FROM paths WHERE name = 'train_step'")
        assert set(place) == {("train.py", 20)}
        kinds = dict(rows(store, "SELECT kind, count(*) FROM host_event GROUP BY 1"))
        assert kinds == {HostKind.ANNOTATION: 1, HostKind.OP: 5}
        told = facts(store)
        assert told["unused.host_events.end_of_a_thunk"] == "1"
        assert int(told["used.host_events"]) + 1 == int(told["rows.host_events"]) == 7
        assert (told["producer"], told["producer_version"]) == ("JAX", "0.10.2")
        assert "on the host threads" in told["capability.gpu_work"]
        assert told["capability.cpu_operators"] == told["capability.python_frames"] == ""
        assert "StepTraceAnnotation" in told["capability.steps"]


def test_a_fusion_says_what_it_was_fused_from(tmp_path: Path) -> None:
    host = Plane("/host:CPU")
    host.line("tf_XLAEigen", 0, thunk(host, "fusion.1", 0, 2))
    with opened(tmp_path, space(modules(), host)) as store:
        [(text,)] = rows(
            store,
            "SELECT s.text FROM host_event h JOIN op_args a ON a.id = h.args "
            "JOIN string s ON s.id = a.other",
        )
    assert json.loads(text) == {
        "hlo": "fusion.1",
        "opcode": "fusion",
        "module": "jit_train_step",
        "program_id": 30,
        "op_name": "jit(train_step)/jvp()/add",
        "source": "train.py:20 train_step",
        "fused_from": [
            {
                "hlo": "mul.1",
                "opcode": "multiply",
                "op_name": "jit(train_step)/jvp()/mul",
                "source": "train.py:12 loss_fn",
            },
            {
                "hlo": "add.1",
                "opcode": "add",
                "op_name": "jit(train_step)/jvp()/add",
                "source": "train.py:20 train_step",
            },
        ],
    }


def test_the_body_of_a_loop_continues_the_path_of_the_loop(tmp_path: Path) -> None:
    host = Plane("/host:CPU")
    loop = [thunk(host, "while.4", 0, 10), thunk(host, "neg.5", 2, 3), thunk(host, "neg.5", 6, 3)]
    host.line("tf_XLAEigen", 0, *loop)
    with opened(tmp_path, space(modules(), host)) as store:
        found = tree(store)
    loop_node = ("tf_XLAEigen", "jit(train_step)", "train_step", "while.4")
    assert found[loop_node] == (None, 10_000)
    assert found[(*loop_node, "loss_fn", "neg.5")] == (None, 6_000)


def device(ordinal: int = 0) -> Plane:
    plane = Plane(f"/device:GPU:{ordinal}", key=ordinal)
    plane.plane_stats(
        device_vendor=Ref("AMD"),
        clock_rate=2_100_000,
        core_count=304,
        memory_bandwidth=Unsigned(2_662_400_000_000),
        memory_size=Unsigned(206_141_652_992),
        compute_cap_major=9,
        compute_cap_minor=4,
    )
    return plane


def kernel(plane: Plane, name: str, start_us: int, dur_us: int, corr: int, **more: Any) -> bytes:
    return plane.event(name, start_us * US, dur_us * US, correlation_id=corr, **more)


def gpu_recording() -> bytes:
    host, gpu, idle = Plane("/host:CPU"), device(), device(1)
    names = {"hlo_op": Ref("dot.2"), "hlo_module": Ref("jit_train_step"), "program_id": 30}
    host.line(
        "Host Threads/77",
        2,
        kernel(host, "hipModuleLaunchKernel", 0, 3, 11, **names, kernel_details="grid:9 block:"),
        kernel(host, "hipMemcpyHtoDAsync", 5, 2, 12),
        # A launch of several kernels, each with an operation of its own (a command buffer).
        kernel(host, "hipGraphLaunch", 8, 2, 13),
        # The id is used again: the latest call that began before the work is its launch.
        kernel(host, "hipLaunchKernel", 20, 2, 11),
        kernel(host, "hipDeviceSynchronize", 24, 10, 0),
    )
    details = Ref("regs:38 grid:160,2,1 block:1024,1,1 private_mem:8 group_mem:512 occ_pct:0")
    other = names | {"hlo_op": Ref("fusion.1")}
    gpu.line(
        "Stream #16(Kernel,MemcpyH2D)",
        1_000,
        kernel(gpu, "dot_2.kd", 5, 10, 11, kernel_details=details, **names),
        kernel(gpu, "__amd_rocclr_copyBuffer.kd", 16, 2, 12, kernel_details=details),
        kernel(gpu, "dot_2.kd", 18, 4, 13, **names),
        kernel(gpu, "fusion_1.kd", 22, 6, 13, **other),
        kernel(gpu, "late.kd", 30, 1, 11),
        kernel(gpu, "lost.kd", 32, 3, 99, **other),
        gpu.event("Memset", 36 * US, 1 * US, memset_details="kind:device size:4096"),
    )
    gpu.line("XLA Modules", 0, gpu.event("jit_train_step", 0, 100 * US))
    gpu.line("Steps", 0, gpu.event("1", 0, 100 * US))
    return space(modules(), gpu, idle, host)


def test_gpu_work_hangs_below_the_operation_it_was_launched_for(tmp_path: Path) -> None:
    with opened(tmp_path, gpu_recording()) as store:
        found = tree(store)
        jit = ("thread 77", "jit(train_step)", "train_step", "loss_fn", "[backward]", "dot.2")
        assert found[jit] == (10_000, 3_000)
        assert found[(*jit, "hipModuleLaunchKernel", "dot_2.kd")] == (10_000, None)
        assert found[("thread 77", "hipMemcpyHtoDAsync", "memcpy HtoD")] == (2_000, None)
        graph = ("thread 77", "hipGraphLaunch")
        assert found[graph] == (10_000, 2_000)
        assert found[(*graph, *jit[1:], "dot_2.kd")] == (4_000, None)
        assert found[(*graph, "jit(train_step)", "train_step", "fusion.1", "fusion_1.kd")] == (
            6_000,
            None,
        )
        assert found[("thread 77", "hipLaunchKernel", "late.kd")] == (1_000, None)
        lost = ("[launch not recorded]", "jit(train_step)", "train_step", "fusion.1", "lost.kd")
        assert found[lost] == (3_000, None)
        assert rows(store, "SELECT sum(gpu_ns) FROM path_metric") == [(27_000,)]
        assert rows(store, "SELECT sum(dur_ns) FROM gpu_op WHERE kind < 4") == [(27_000,)]


def test_devices_streams_and_launch_shapes(tmp_path: Path) -> None:
    with opened(tmp_path, gpu_recording()) as store:
        [row] = rows(
            store, "SELECT * EXCLUDE (id, process, gpu_id, label, uuid, assumed) FROM device"
        )
        assert row == (0, "AMD GPU", 304, 2_100_000_000, 206_141_652_992, 2_662_400_000_000, 9, 4)
        assert "1 GPUs are listed without" in rows(store, "SELECT text FROM note")[-1][0]
        lanes = rows(store, "SELECT name, tid, stream_id, device FROM lane ORDER BY name")
        assert lanes == [
            ("Steps", None, None, 0),
            ("XLA Modules", None, None, 0),
            ("stream 16", None, 16, 0),
            ("thread 77", 77, None, None),
        ]
        [shape] = rows(
            store,
            "SELECT grid_x, grid_y, block_x, registers_per_thread, shared_bytes, "
            "local_bytes_per_thread, occupancy_percent FROM kernels WHERE grid_x IS NOT NULL",
        )
        assert shape == (160, 2, 1024, 38, 512, 8, None)
        assert rows(store, "SELECT bytes FROM gpu_op WHERE kind = 2") == [(4_096,)]
        # Derived lines are spans: 27 us of work, not 227.
        assert rows(store, "SELECT sum(busy_ns) FROM device_busy") == [(24_000,)]
        assert rows(store, f"SELECT count(*) FROM gpu_op WHERE kind = {GpuKind.SPAN}") == [(2,)]
        told = facts(store)
        assert told["orphans.kernel"] == "1"
        # The copy does not tell its size: not known, never 0.
        assert rows(store, "SELECT bytes FROM op_stat WHERE kind = 1") == [(None,)]
        assert told["capability.gpu_work"] == told["capability.launches"] == ""
        assert "capability.cpu_operators" not in told


def test_python_frames_annotations_and_steps(tmp_path: Path) -> None:
    host = Plane("/host:CPU")
    host.line(
        "python",
        0,
        host.event("$train.py:12 main", 0, 100 * US),
        host.event("train", 5 * US, 40 * US, step_num=7, _r=1),
        host.event("PjitFunction(train_step)", 10 * US, 20 * US),
        host.event("$builtins len", 11 * US, 1 * US),
        host.event("train", 50 * US, 40 * US, step_num=8, _r=1),
        host.event("ThreadpoolListener::Record", 60 * US),
        host.event(
            "MemoryAllocation",
            61 * US,
            allocator_name=Ref("GPU_3_bfc"),
            addr=4096,
            allocation_bytes=256,
            bytes_allocated=1024,
        ),
        host.event(
            "MemoryDeallocation",
            62 * US,
            allocator_name=Ref("xla_gpu_host_bfc"),
            allocation_bytes=512,
            bytes_allocated=0,
        ),
        host.event("MemoryAllocation", 63 * US, allocator_name=Ref("GPU_3_bfc")),
    )
    with opened(tmp_path, space(host, device(3))) as store:
        found = tree(store)
        steps = ("python", "main", "train step #")
        assert found[steps] == (None, 80_000)
        assert found[(*steps, "PjitFunction(train_step)", "len")] == (None, 1_000)
        names = rows(
            store, "SELECT name FROM host_events WHERE name LIKE 'train step %' ORDER BY name"
        )
        assert names == [("train step 7",), ("train step 8",)]
        place = rows(store, "SELECT name, file, line FROM paths WHERE layer = 'python' ORDER BY 1")
        assert place == [("len", "builtins", None), ("main", "train.py", 12)]
        memory = rows(
            store,
            "SELECT m.time_ns, m.bytes, m.host, m.address, m.allocated_bytes, d.ordinal, p.name "
            "FROM memory_event m LEFT JOIN device d ON d.id = m.device "
            "LEFT JOIN paths p ON p.id = m.node ORDER BY 1",
        )
        assert memory == [
            (61_000, 256, False, 4096, 1024, 3, "train step #"),
            (62_000, -512, True, None, 0, None, "train step #"),
        ]
        told = facts(store)
        assert told["unused.host_events.allocation_without_size"] == "1"
        assert told["capability.steps"] == told["capability.memory"] == ""
        assert rows(store, f"SELECT count(*) FROM host_event WHERE kind = {HostKind.MARK}") == [
            (1,)
        ]


def test_a_module_that_is_missing_leaves_what_the_events_tell(tmp_path: Path) -> None:
    host = Plane("/host:CPU")
    strange = {"program_id": 31, "hlo_module": Ref("jit_other")}
    host.line(
        "tf_XLAEigen",
        0,
        thunk(host, "dot.9", 0, 1, **strange, name=Ref("jit(other)/transpose(jvp())/dot")),
        # No program id: the only module of that name is meant.
        host.event("dot.2", 5 * US, 1 * US, hlo_op="dot.2", hlo_module="jit_train_step"),
    )
    with opened(tmp_path, space(modules(program=False), host)) as store:
        found = tree(store)
    other = ("tf_XLAEigen", "jit(other)", "jit(other)/transpose(jvp())/dot", "[backward]", "dot.9")
    assert found[other] == (None, 1_000)
    known = ("tf_XLAEigen", "jit(train_step)", "train_step", "loss_fn", "[backward]", "dot.2")
    assert found[known] == (None, 1_000)


def test_two_hosts_are_aligned_by_their_clocks(tmp_path: Path) -> None:
    files: list[bytes] = []
    for start in (5_000, 2_000):
        host, told = Plane("/host:CPU"), Plane("Task Environment")
        host.line("python", 100, host.event("f", 0, 1 * US))
        told.plane_stats(profile_start_time=Unsigned(10**18 + start))
        files.append(space(host, told))
    with opened(tmp_path, *files) as store:
        assert rows(
            store,
            "SELECT p.rank, h.start_ns FROM host_event h JOIN lane l ON l.id = h.lane "
            "JOIN process p ON p.id = l.process ORDER BY 1",
        ) == [(0, 3_100), (1, 100)]
        assert facts(store)["start_utc_ns"] == str(10**18 + 2_000)


def test_times_since_1970_count_from_the_first_event(tmp_path: Path) -> None:
    host = Plane("/host:CPU")
    host.line("python", 17 * 10**17, host.event("f", 5_000, 1 * US))
    with opened(tmp_path, space(host)) as store:
        assert rows(store, "SELECT start_ns FROM host_event") == [(0,)]
        assert facts(store)["start_utc_ns"] == str(17 * 10**17 + 5)


def test_damage_is_told_and_the_rest_is_shown(tmp_path: Path) -> None:
    data = gpu_recording()
    for size in range(200, len(data) - 20, 97):
        with opened(tmp_path, data[:size]) as store:
            notes = [text for (text,) in rows(store, "SELECT text FROM note WHERE severity = 3")]
            assert len(notes) == 1
            assert "stopped at byte" in notes[0]
            check = (
                "SELECT (SELECT coalesce(sum(gpu_ns), 0) FROM path_metric), coalesce(sum(dur_ns)"
            )
            [(summed, direct)] = rows(store, f"{check}, 0) FROM gpu_op WHERE kind < 4")
            assert summed == direct


def test_lines_of_other_devices_are_spans_and_it_is_told(tmp_path: Path) -> None:
    tpu = Plane("/device:TPU:0")
    tpu.line("XLA Ops", 0, tpu.event("%fusion", 0, 5 * US))
    with opened(tmp_path, space(tpu, Plane("/host:CPU"))) as store:
        assert rows(store, "SELECT kind, dur_ns FROM gpu_op") == [(GpuKind.SPAN, 5_000)]
        assert "/device:TPU:0" in rows(store, "SELECT text FROM note")[0][0]


def test_memory_of_a_gpu_that_is_not_listed(tmp_path: Path) -> None:
    host = Plane("/host:CPU")
    host.line(
        "python",
        0,
        host.event("MemoryAllocation", 0, allocator_name=Ref("GPU_2_bfc"), allocation_bytes=64),
    )
    with opened(tmp_path, space(host)) as store:
        found = (
            "SELECT d.ordinal, d.name, m.bytes FROM memory_event m JOIN device d ON d.id = m.device"
        )
        assert rows(store, found) == [(2, "GPU", 64)]


def test_streams_of_a_device_without_a_number_are_no_work(tmp_path: Path) -> None:
    strange = Plane("/device:GPU:one")
    strange.line("Stream #16(Kernel)", 0, strange.event("k", 0, 5 * US))
    with opened(tmp_path, space(strange)) as store:
        assert rows(store, "SELECT kind, device FROM gpu_op") == [(GpuKind.SPAN, None)]


def test_a_recording_without_events_opens_empty(tmp_path: Path) -> None:
    empty = Plane("/host:CPU")
    empty.lines.append(number(1, 3))
    with opened(tmp_path, space(empty)) as store:
        assert rows(store, "SELECT count(*) FROM host_event") == [(0,)]
        assert facts(store)["span_ns"] == "0"
