"""The commands on a small export."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from click.testing import Result

Run = Callable[..., Result]


def test_info_json(run: Run, export: Path) -> None:
    result = run("info", export, "--json")
    assert result.exit_code == 0, result.output
    info = json.loads(result.stdout)
    assert list(info)[:4] == ["schema_version", "path", "size_bytes", "format"]
    assert info["schema_version"] == 1
    assert info["size_bytes"] == export.stat().st_size
    assert info["tables"]["CUPTI_ACTIVITY_KIND_KERNEL"] == {"rows": 3, "used": 3, "unused": {}}
    [device] = info["devices"]
    assert (device["kernel_count"], device["kernel_sum_ns"], device["busy_ns"]) == (3, 1000, 1000)
    assert device["kernel_window_ns"] == [300, 1500]
    parts = ("compute_ns", "comm_exposed_ns", "copy_exposed_ns", "idle_ns")
    assert sum(device[part] for part in parts) == device["window_ns"] == 1200
    assert info["gpu_operations"] == {"kernel": {"count": 3, "sum_ns": 1000, "bytes": None}}
    assert info["orphans"]["kernel"] == 1
    assert info["annotations"]["push_pop"] == 1
    assert info["annotations"]["top"] == [{"text": "step", "count": 1, "sum_ns": 800}]
    assert [kernel["name"] for kernel in info["top_kernels"]] == ["copy_kernel", "gemm"]


def test_info_text(run: Run, export: Path) -> None:
    result = run("info", export)
    assert result.exit_code == 0, result.output
    assert str(export) in result.stdout
    assert "3 kernels, sum 1.00 µs, busy 1.00 µs" in result.stdout
    assert "1 push-pop" in result.stdout
    assert "CUPTI_ACTIVITY_KIND_RUNTIME" in result.stdout


def test_info_about_the_installation(run: Run, tmp_path: Path) -> None:
    facts = json.loads(run("info", "--json").stdout)
    assert facts["cache_directory"] == str(tmp_path / "cache")
    assert facts["state_directory"] == str(tmp_path / "state")
    assert facts["recent_traces"] == str(tmp_path / "state" / "recent.json")
    assert facts["versions"]["duckdb"]
    text = run("info").stdout
    assert "cache directory" in text
    assert str(tmp_path / "cache") in text


def test_the_state_directory_follows_xdg(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DCTX_STATE_DIR")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg"))
    facts = json.loads(run("info", "--json").stdout)
    assert facts["recent_traces"] == str(tmp_path / "xdg" / "dctx" / "recent.json")


def test_overview(run: Run, export: Path) -> None:
    result = run("overview", export)
    assert result.exit_code == 0, result.output
    assert "\x1b" not in result.stdout
    assert "step > cudaLaunchKernel" in result.stdout
    assert "[launch not recorded]" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_import_writes_a_store_every_command_opens(run: Run, export: Path, tmp_path: Path) -> None:
    store = tmp_path / "kept.dctx"
    result = run("import", export, "-o", store)
    assert (result.exit_code, result.output) == (0, "")
    export.unlink()
    assert json.loads(run("info", store, "--json").stdout)["devices"][0]["kernel_count"] == 3


def test_import_says_when_nothing_is_kept(
    run: Run, export: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "a file"
    place.touch()
    monkeypatch.setenv("DCTX_CACHE_DIR", str(place))
    result = run("import", export)
    assert result.exit_code == 2
    assert "nothing is kept. The store is kept in memory only" in result.stderr


def test_import_does_not_overwrite(run: Run, export: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept.dctx"
    kept.write_text("mine")
    result = run("import", export, "-o", kept)
    assert result.exit_code == 2
    assert "exists already" in result.stderr
    assert kept.read_text() == "mine"


def test_import_fills_the_cache(run: Run, export: Path, tmp_path: Path) -> None:
    assert run("import", export).exit_code == 0
    assert len(list((tmp_path / "cache").glob("*.dctx"))) == 1


def test_no_cache_leaves_none(run: Run, export: Path, tmp_path: Path) -> None:
    assert run("overview", export, "--no-cache").exit_code == 0
    assert not list((tmp_path / "cache").glob("*.dctx"))


QUERY = "SELECT name, sum(dur_ns)::BIGINT AS ns FROM kernels GROUP BY name ORDER BY name"


def test_sql_table(run: Run, export: Path) -> None:
    result = run("sql", export, QUERY)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [
        "name          ns",
        "───────────  ───",
        "copy_kernel  500",
        "gemm         500",
    ]


def test_sql_json_csv_and_limit(run: Run, export: Path) -> None:
    rows = json.loads(run("sql", export, QUERY, "--format", "json").stdout)
    assert rows == [{"name": "copy_kernel", "ns": 500}, {"name": "gemm", "ns": 500}]
    text = run("sql", export, QUERY, "--format", "csv", "--limit", "1").stdout
    assert list(csv.reader(io.StringIO(text))) == [["name", "ns"], ["copy_kernel", "500"]]
    assert run("sql", export, QUERY, "--format", "csv", "--limit", "0").stdout == "name,ns\n"


def test_sql_numbers_names_that_come_twice(run: Run, export: Path) -> None:
    result = run("sql", export, "SELECT 1 a, 2 a, 3 a_2, 4 a", "--format", "json")
    assert json.loads(result.stdout) == [{"a": 1, "a_3": 2, "a_2": 3, "a_4": 4}]


@pytest.mark.parametrize("output_format", ["table", "json", "csv"])
def test_sql_values_that_are_out_of_range(run: Run, export: Path, output_format: str) -> None:
    query = "SELECT INTERVAL 5000000 YEARS"
    result = run("sql", export, query, "--format", output_format)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Cast it to text" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    cast = run("sql", export, f"{query}::VARCHAR AS x", "--format", "csv")
    assert cast.stdout == "x\n5000000 years\n"


def test_sql_from_a_file_and_standard_input(run: Run, export: Path, tmp_path: Path) -> None:
    query = tmp_path / "q.sql"
    query.write_text(QUERY + ";\n")
    expected = run("sql", export, QUERY).stdout
    assert run("sql", export, "-f", query).stdout == expected
    assert run("sql", export, "-f", "-", input=QUERY).stdout == expected


def test_sql_explains_and_describes(run: Run, export: Path) -> None:
    assert "kernels" in run("sql", export, "SHOW TABLES").stdout
    assert "dur_ns" in run("sql", export, "DESCRIBE kernels").stdout
    assert run("sql", export, "EXPLAIN SELECT 1").exit_code == 0


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("SELEC 1", "syntax error"),
        ("DELETE FROM gpu_op", "DELETE is not allowed"),
        ("SELECT * FROM read_csv('/etc/hostname')", "disabled"),
        ("SELECT * FROM '/etc/hostname'", "hostname"),
    ],
)
def test_sql_says_what_is_wrong(run: Run, export: Path, query: str, text: str) -> None:
    result = run("sql", export, query)
    assert result.exit_code == 2
    assert text in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("cache", [[], ["--no-cache"]])
def test_sql_cannot_write(run: Run, export: Path, tmp_path: Path, cache: list[str]) -> None:
    target = tmp_path / "kernels.csv"
    for query in (f"COPY kernels TO '{target}'", "EXPLAIN ANALYZE DELETE FROM gpu_op"):
        assert run("sql", export, query, *cache).exit_code == 2
    assert not target.exists()
    left = run("sql", export, "SELECT count(*) FROM gpu_op", "--format", "csv", *cache)
    assert left.stdout.splitlines()[1] == "3"


def test_sql_wants_one_query(run: Run, export: Path) -> None:
    assert run("sql", export).exit_code == 2
    assert run("sql", export, "SELECT 1", "-f", "-").exit_code == 2


@pytest.mark.parametrize("command", ["info", "overview", "import"])
def test_bad_input_is_one_paragraph(run: Run, tmp_path: Path, command: str) -> None:
    bad = tmp_path / "bad.sqlite"
    bad.write_bytes(b"")
    for path in (bad, tmp_path, tmp_path / "missing.sqlite"):
        result = run(command, path)
        assert result.exit_code == 2
        assert result.stdout == ""
        assert result.stderr.startswith(f"dctx: error: {path}: ")
        assert len(result.stderr.splitlines()) == 1


def test_the_trace_is_left_alone(run: Run, export: Path) -> None:
    before = (export.read_bytes(), export.stat().st_mtime_ns, sorted(export.parent.glob("run*")))
    for arguments in (["info"], ["overview"], ["import"]):
        assert run(*arguments, export).exit_code == 0
    assert run("sql", export, "SELECT 1").exit_code == 0
    after = (export.read_bytes(), export.stat().st_mtime_ns, sorted(export.parent.glob("run*")))
    assert after == before


def test_info_tells_what_is_lacking_and_why(run: Run, export: Path, tmp_path: Path) -> None:
    store = tmp_path / "t.dctx"
    done = run("import", export, "-o", store)
    assert done.exit_code == 0, done.output
    with duckdb.connect(store) as connection:
        connection.execute(
            "INSERT OR REPLACE INTO trace VALUES "
            "('capability.shapes', 'recorded without record_shapes.'), ('capability.memory', '')"
        )
    lines = run("info", store).stdout.splitlines()
    assert "lacks       operator shapes: recorded without record_shapes." in lines
    assert not any("memory events" in line for line in lines)
    told = json.loads(run("info", store, "--json").stdout)["capabilities"]
    assert told["shapes"] == {"recorded": False, "reason": "recorded without record_shapes."}
    assert told["memory"] == {"recorded": True, "reason": None}
