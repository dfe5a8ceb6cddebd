"""Exports with random damage open as far as they are sound, or are told to be damaged: nothing
else comes out, and what is shown adds up."""

import os
import random
from pathlib import Path
from typing import Any

import pytest

from dctx.demo_data.nsys_export import ExportWriter, global_pid, global_tid
from dctx.ingest.errors import TraceError
from dctx.ingest.registry import open_trace
from dctx.ingest.store import Store

REFERENCES = (
    ("gpu_op", "name", "string"),
    ("gpu_op", "lane", "lane"),
    ("gpu_op", "node", "path_node"),
    ("gpu_op", "config", "launch_config"),
    ("gpu_op", "launch", "host_event"),
    ("host_event", "name", "string"),
    ("host_event", "lane", "lane"),
    ("host_event", "node", "path_node"),
    ("host_event", "parent", "host_event"),
    ("cpu_sample", "node", "path_node"),
    ("path_node", "frame", "frame"),
    ("frame", "name", "string"),
)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """An export with a bit of everything, on small pages so that damage meets many tables."""
    path = tmp_path_factory.mktemp("sound") / "t.sqlite"
    with ExportWriter(path, page_size=512) as export:
        export.describe("2026.1.1", "3.24.14")
        for pid in (1, 2):
            tid = global_tid(pid, pid)
            export.process(pid, f"rank {pid}")
            export.add("TARGET_INFO_GPU", id=pid, cuDevice=pid, name=f"gpu {pid}", vmId=1 << 48)
            for index in range(60):
                start = 100 * index
                where: dict[str, Any] = {
                    "deviceId": pid,
                    "contextId": 1,
                    "streamId": 7,
                    "correlationId": index,
                    "globalPid": global_pid(pid),
                }
                export.add(
                    "NVTX_EVENTS",
                    start=start,
                    end=start + 90,
                    eventType=59,
                    text=f"step {index}",
                    globalTid=tid,
                )
                export.add(
                    "CUPTI_ACTIVITY_KIND_RUNTIME",
                    start=start + 10,
                    end=start + 20,
                    globalTid=tid,
                    nameId="cudaLaunchKernel_v7000",
                    correlationId=index,
                    callchainId=index,
                )
                export.add(
                    "CUPTI_ACTIVITY_KIND_KERNEL",
                    start=start + 30,
                    end=start + 80,
                    gridX=index % 5,
                    shortName="gemm",
                    demangledName="gemm<>",
                    **where,
                )
                export.add(
                    "CUPTI_ACTIVITY_KIND_MEMCPY",
                    start=start + 80,
                    end=start + 85,
                    bytes=64,
                    copyKind=1,
                    **where,
                )
                sample = 100 * pid + index
                export.add("COMPOSITE_EVENTS", id=sample, start=start + 15, globalTid=tid)
                for table, chain in (("SAMPLING_CALLCHAINS", sample), ("CUDA_CALLCHAINS", index)):
                    if table == "CUDA_CALLCHAINS" and pid == 2:
                        continue
                    for depth, symbol in enumerate(("cudaLaunchKernel", "work", "main")):
                        export.add(
                            table, id=chain, stackDepth=depth, symbol=symbol, module="/bin/app"
                        )
    return path.read_bytes()


def damaged(sound: bytes, seed: int) -> bytes:
    """Cut, or with bytes overwritten: mostly behind the header, sometimes in it."""
    chance = random.Random(seed)
    content = bytearray(sound)
    if chance.random() < 0.2:
        del content[chance.randrange(100, len(content)) :]
    for _ in range(chance.choice((1, 3, 10, 100))):
        first = 100 if chance.random() < 0.9 else 0
        content[chance.randrange(first, len(content))] = chance.randrange(256)
    return bytes(content)


def check(store: Store) -> None:
    with store.cursor() as cursor:

        def ask(question: str) -> tuple[Any, ...]:
            return tuple(cursor.execute(question).fetchall()[0])

        events = ask("SELECT coalesce(sum(dur_ns), 0), count(*) FROM gpu_op WHERE kind <> 4")
        sums = "SELECT coalesce(sum(gpu_ns), 0), coalesce(sum(gpu_ops), 0) FROM"
        assert ask(f"{sums} path_metric WHERE device IS NOT NULL") == events
        assert ask(f"{sums} path_total WHERE node = 0 AND device IS NOT NULL") == events
        host = ask("SELECT coalesce(sum(self_ns), 0), count(*) FROM host_event WHERE kind <= 2")
        sums = "SELECT coalesce(sum(host_ns), 0), coalesce(sum(calls), 0) FROM"
        assert ask(f"{sums} path_metric WHERE device IS NULL") == host
        for table, column, target in REFERENCES:
            lost = ask(
                f"""SELECT count(*) FROM {table} WHERE {column} IS NOT NULL
                    AND {column} NOT IN (SELECT id FROM {target})"""
            )
            assert lost == (0,), (table, column)
        facts = dict(cursor.execute("SELECT key, value FROM trace").fetchall())
    for key, value in facts.items():
        if key.startswith("rows."):
            table = key.removeprefix("rows.")
            unused = sum(int(v) for k, v in facts.items() if k.startswith(f"unused.{table}."))
            assert int(facts[f"used.{table}"]) >= 0, table
            assert int(facts[f"used.{table}"]) + unused == int(value), table


@pytest.mark.parametrize("seed", range(60))
def test_damage_ends_in_a_store_or_a_sentence(
    sound: bytes, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DCTX_STATE_DIR", str(tmp_path / "state"))
    path = tmp_path / "t.sqlite"
    path.write_bytes(damaged(sound, seed))
    os.utime(path, (1, 1))
    before = path.read_bytes()
    for salvage in (False, True):
        told = ""
        try:
            store = open_trace(path, cache=False, salvage=salvage)
        except TraceError as error:
            told = str(error)
        else:
            check(store)
            store.close()
        assert "\n" not in told
    assert path.read_bytes() == before


def test_the_sound_one_opens(sound: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DCTX_STATE_DIR", str(tmp_path / "state"))
    path = tmp_path / "t.sqlite"
    path.write_bytes(sound)
    store = open_trace(path, cache=False)
    check(store)
    with store.cursor() as cursor:
        counts = cursor.execute(
            """SELECT (SELECT count(*) FROM gpu_op WHERE launch IS NOT NULL),
                      (SELECT count(*) FROM host_event), (SELECT count(*) FROM cpu_sample)"""
        ).fetchall()
    store.close()
    assert counts == [(240, 240, 120)]
