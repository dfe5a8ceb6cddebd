"""Environment, command line, host and output of the profiled program never leave the file."""

from pathlib import Path

from dctx.demo_data.nsys_export import ExportWriter, global_pid, global_tid
from dctx.ingest.registry import open_trace

SECRET = "canary-51f0"


def test_secrets_do_not_reach_the_store(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        export.describe("2026.1.1", "3.24.14")
        for name in (
            "PROCESS_0:ENVIRONMENT_VARIABLE",
            "PROCESS_0:COMMAND",
            "PROCESS_0:ARGUMENT_0",
            "PROCESS_0:CUDA_GRAPH_TRACE_OPTIONS_SECRET",
            "COLLECT",
            "X_RATE_HZ",
            "HOST",
        ):
            export.add("META_DATA_CAPTURE", name=name, value=f"HF_API_KEY={SECRET}")
        export.add(
            "META_DATA_CAPTURE", name="PROCESS_0:CUDA_GRAPH_TRACE_OPTIONS:MODE", value="Node"
        )
        export.add("META_DATA_CAPTURE", name="COLLECT_NVTX_TRACE", value="true")
        for name in ("EXPORT_HOST", "EXPORT_USER", "EXPORT_INPUT_PATH_ABS"):
            export.add("META_DATA_EXPORT", name=name, value=SECRET)
        for name in ("Hostname", "TargetInstallDir"):
            export.add("TARGET_INFO_SYSTEM_ENV", name=name, value=SECRET)
        export.add("TARGET_INFO_SYSTEM_ENV", name="CpuCores", value="64")
        for table in ("ProcessStreams", "ANALYSIS_FILE"):
            export.add(table, contentId=f"stdout {SECRET}", globalPid=global_pid(1))
        export.string(f"HF_API_KEY={SECRET}")
        tid = global_tid(1, 1)
        export.add("NVTX_EVENTS", start=0, end=10, eventType=59, text="step", globalTid=tid)
        export.add(
            "CUPTI_ACTIVITY_KIND_RUNTIME",
            start=0,
            end=10,
            globalTid=tid,
            nameId="cudaMalloc_v3020",
            correlationId=1,
        )
    store = open_trace(path)
    with store.cursor() as cursor:
        tables = [name for (name,) in cursor.execute("SHOW TABLES").fetchall()]
        content = {table: cursor.execute(f"FROM {table}").fetchall() for table in tables}
        facts = dict(cursor.execute("SELECT key, value FROM trace").fetchall())
    store.close()
    assert SECRET not in repr(content)
    assert facts["option.PROCESS_0:CUDA_GRAPH_TRACE_OPTIONS:MODE"] == "Node"
    assert facts["option.COLLECT_NVTX_TRACE"] == "true"
    assert facts["host.cpu_cores"] == "64"
    assert facts["unused.META_DATA_CAPTURE.not_allowed"] == "7"
    assert int(facts["unused.StringIds.not_referenced"]) == 2
    for file in (tmp_path / "cache").rglob("*"):
        assert SECRET.encode() not in file.read_bytes(), file
    for file in (tmp_path / "state").rglob("*"):
        assert SECRET.encode() not in file.read_bytes(), file
