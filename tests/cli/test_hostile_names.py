"""Names from a trace cannot drive the terminal, whatever prints them."""

import json
import os
import pty
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from dctx.cli import commands
from dctx.demo_data.nsys_export import ExportWriter, global_pid, global_tid
from dctx.reports.tabular import write_csv

Run = Callable[..., Result]

HOSTILE = (
    "A\x1b]0;title\x07\x1b[31mred\x1b[2J\x9b31m\x85\r\n\ttab\x7f[red]x[/red] "
    "\u202eback\u2066in\u2069\u200e\u2028"
)
SQL_COMMANDS = [["sql", "--format", f, "SELECT name FROM kernels"] for f in ("table", "json")]
COMMANDS = [["info"], ["info", "--json"], ["overview"], *SQL_COMMANDS]


def controls(text: str) -> set[str]:
    """What a terminal must not get of a text of several lines."""
    return {character for character in text if character != "\n" and not character.isprintable()}


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """An export with such names wherever there can be one."""
    path = tmp_path / "run\x1b[31m\u202e\x9b.sqlite"
    thread = global_tid(77, 78)
    with ExportWriter(path) as writer:
        writer.describe("2025.1.1", "3.17.0")
        writer.process(77, f"process {HOSTILE}")
        writer.thread(77, 78, f"thread {HOSTILE}")
        writer.add("TARGET_INFO_GPU", id=0, name=f"gpu {HOSTILE}", smCount=10)
        writer.add("DIAGNOSTIC_EVENT", timestamp=1, text=f"note {HOSTILE}", severity=3)
        text = f"range {HOSTILE}"
        writer.add("NVTX_EVENTS", start=100, end=900, eventType=59, text=text, globalTid=thread)
        writer.add(
            "CUPTI_ACTIVITY_KIND_RUNTIME",
            start=200,
            end=250,
            globalTid=thread,
            correlationId=1,
            nameId="cudaLaunchKernel_v7000",
        )
        writer.add(
            "CUPTI_ACTIVITY_KIND_KERNEL",
            start=300,
            end=700,
            deviceId=0,
            contextId=1,
            streamId=7,
            correlationId=1,
            globalPid=global_pid(77),
            shortName=f"kernel {HOSTILE}",
            demangledName=f"kernel<float> {HOSTILE}",
        )
    return path


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_no_command_prints_control_characters(
    run: Run, hostile: Path, arguments: list[str]
) -> None:
    result = run(arguments[0], hostile, *arguments[1:])
    assert result.exit_code == 0, result.output
    assert "[red]x[/red]" in result.stdout
    assert not controls(result.stdout)
    assert not controls(result.stderr)


def test_json_still_tells_the_name(run: Run, hostile: Path) -> None:
    result = run("sql", hostile, "SELECT name FROM kernels", "--format", "json")
    assert json.loads(result.stdout) == [{"name": f"kernel {HOSTILE}"}]


def _read_all(terminal: int) -> str:
    """What was written to a terminal whose other side is closed: it comes piece by piece."""
    pieces: list[bytes] = []
    try:
        while piece := os.read(terminal, 65_536):
            pieces.append(piece)
    except OSError:  # how Linux tells the end
        pass
    finally:
        os.close(terminal)
    return b"".join(pieces).decode()


def test_csv_is_raw_for_programs_and_clean_on_a_terminal(run: Run, hostile: Path) -> None:
    query = "SELECT name FROM kernels"
    raw = run("sql", hostile, query, "--format", "csv").stdout_bytes.decode()
    assert HOSTILE in raw
    ours, theirs = pty.openpty()
    with open(theirs, "w", encoding="utf-8") as terminal:
        write_csv(["name"], iter([(HOSTILE,)]), terminal)
    shown = _read_all(ours)
    assert "[red]x[/red]" in shown
    assert not controls(shown.replace("\r\n", "\n"))


def test_no_error_prints_control_characters(run: Run, hostile: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.sqlite"
    with ExportWriter(other) as writer:
        writer.execute('CREATE TABLE "\x1b[31m\u202e" (x)')
    failures = [
        ("info", other),
        ("info", hostile.with_name("no\x1b\x9b\u202e.sqlite")),
        ("sql", hostile, 'SELECT * FROM "\x1b[31m\x9b\u202e"'),
        ("sql", hostile, "SELECT error(name) FROM kernels"),
        ("--debug", "sql", hostile, "SELECT error(name) FROM kernels"),
        ("import", hostile, "-o", hostile),
    ]
    for arguments in failures:
        result = run(*arguments)
        assert result.exit_code == 2, result.output
        assert result.stderr
        assert not controls(result.stderr)


@pytest.mark.parametrize("command", sorted(set(commands.COMMANDS) - {"record"}))  # opens no trace
@pytest.mark.parametrize("before", [True, False])
def test_debug_before_and_after_the_command(
    run: Run, tmp_path: Path, command: str, before: bool
) -> None:
    other = [str(tmp_path / "missing too.sqlite")]
    second = {
        "sql": ["SELECT 1"],
        "compare": other,
        "compare-reports": other,
        "control": ["status"],
        "kernel": ["name"],
        "replay": ["--row", "1"],
    }
    first = {"baseline": ["save", "main"]}.get(command, [])
    arguments = [command, *first, str(tmp_path / "missing.sqlite"), *second.get(command, [])]
    arguments.insert(0 if before else 1, "--debug")
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith("Traceback")
    assert "Traceback" not in run(*(a for a in arguments if a != "--debug")).stderr
