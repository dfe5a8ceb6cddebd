"""A small export, and the commands run in this process."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dctx.cli.commands import dctx
from dctx.demo_data.nsys_export import ExportWriter, global_pid, global_tid

Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def own_directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the user's cache nor the list of recent traces is touched; no files of the user's
    own change what is reported."""
    monkeypatch.setenv("DCTX_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("DCTX_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("DCTX_CONFIG_DIR", str(tmp_path / "own-config"))


@pytest.fixture
def lasting_traces(
    own_directories: None, shared_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For tests whose traces several of them read, and that do not look into the cache."""
    monkeypatch.setenv("DCTX_CACHE_DIR", str(shared_cache))


@pytest.fixture
def run() -> Run:
    """Run `dctx` with the given arguments."""

    def run_dctx(*arguments: str | Path, input: str | None = None) -> Result:  # noqa: A002
        return CliRunner().invoke(dctx, [str(a) for a in arguments], input=input)

    return run_dctx


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """One process: an annotation around two launches, and a third kernel without a launch."""
    path = tmp_path / "run.sqlite"
    thread = global_tid(77, 78)
    with ExportWriter(path) as writer:
        writer.describe("2025.1.1", "3.17.0")
        writer.process(77, "python3")
        writer.thread(77, 78, "main")
        writer.add("NVTX_EVENTS", start=100, end=900, eventType=59, text="step", globalTid=thread)
        for i, start in enumerate((200, 400)):
            writer.add(
                "CUPTI_ACTIVITY_KIND_RUNTIME",
                start=start,
                end=start + 50,
                globalTid=thread,
                correlationId=i + 1,
                nameId="cudaLaunchKernel_v7000",
            )
        for i, (start, end) in enumerate(((300, 700), (700, 800), (1_000, 1_500))):
            writer.add(
                "CUPTI_ACTIVITY_KIND_KERNEL",
                start=start,
                end=end,
                deviceId=0,
                contextId=1,
                streamId=7,
                correlationId=i + 1,
                globalPid=global_pid(77),
                shortName="gemm" if i < 2 else "copy_kernel",
                demangledName="gemm<float>" if i < 2 else "copy_kernel<int>",
                gridX=4,
                gridY=1,
                gridZ=1,
                blockX=128,
                blockY=1,
                blockZ=1,
                registersPerThread=32,
            )
    return path
