"""`dctx replay` and `dctx replay-info` on a hand-made trace and on its report."""

import json
import resource
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.test_report import trained
from tests.kineto_files import write_json


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return write_json(tmp_path / "run.pt.trace.json", trained())


def test_a_row_becomes_a_script_and_its_report_gives_the_same(
    run: Run, trace: Path, tmp_path: Path
) -> None:
    by_name = run("replay", trace, "--op", "aten::mm")
    assert by_name.exit_code == 0, by_name.output
    assert "OPERATOR = 'aten::mm'" in by_name.stdout
    assert "'shape': (8, 16), 'strides': (16, 1), 'dtype': 'float'" in by_name.stdout
    row = next(int(line[6:]) for line in by_name.stdout.splitlines() if line.startswith("ROW = "))
    uid = next(int(line[6:]) for line in by_name.stdout.splitlines() if line.startswith("UID = "))
    for options in (("--row", str(row)), ("--uid", str(uid))):
        assert run("replay", trace, *options).stdout == by_name.stdout
    assert run("report", trace, "--csv", tmp_path / "out").exit_code == 0
    folder = run("replay", tmp_path / "out", "--op", "aten::mm")
    assert folder.stdout.replace("'out'", "'run.pt.trace.json'") == by_name.stdout
    script = tmp_path / "mm.py"
    assert run("replay", trace, "--op", "aten::mm", "-o", script).exit_code == 0
    assert script.read_text() == by_name.stdout


def test_a_folder_gets_what_can_be_rebuilt_and_the_rest_is_named(
    run: Run, trace: Path, tmp_path: Path
) -> None:
    result = run("replay", trace, "-o", tmp_path / "scripts")
    assert result.exit_code == 0, result.output
    assert [path.name[4:] for path in (tmp_path / "scripts").iterdir()] == ["_aten_mm.py"]
    assert "not written: aten::add: The trace does not record its arguments" in result.stderr
    assert "not written: " in result.stderr
    assert "1 scripts in" not in result.stderr


def test_a_script_is_whole_or_not_there(run: Run, trace: Path, tmp_path: Path) -> None:
    kept = tmp_path / "mm.py"
    kept.write_text("mine")
    assert run("import", trace).exit_code == 0
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limit[1]))  # as a full disk: it ends within
    try:
        many = run("replay", trace, "-o", tmp_path / "scripts")
        one = run("replay", trace, "--op", "aten::mm", "-o", kept)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert (many.exit_code, one.exit_code) == (2, 2)
    assert "mm.py cannot be written: File too large." in one.stderr
    assert (list((tmp_path / "scripts").iterdir()), kept.read_text()) == ([], "mine")


def test_the_information_tells_all_rows(run: Run, trace: Path) -> None:
    found = json.loads(run("replay-info", trace).stdout)
    by_op = {one["op"]: one for one in found}
    assert by_op["aten::mm"]["args"][0]["shape"] == [8, 16]
    assert by_op["aten::mm"]["count"] == 2
    assert by_op["aten::mm"]["trace"] == "run.pt.trace.json"
    assert not by_op["aten::add"]["replayable"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "Which row?"),
        (("--row", "1", "--uid", "2"), "one of them"),
        (("--row", "99"), "has no row 99: it has"),
        (("--uid", "99999"), "has no row with UID 99999"),
        (("--op", "aten::nothing"), "has no row of aten::nothing; --sheet ops_summary of"),
        (("--op", "ADD"), "has no row of ADD; near it: aten::add"),
        (("--op", "aten::add"), "cannot be replayed: The trace does not record"),
    ],
)
def test_what_cannot_be_done_is_said(
    run: Run, trace: Path, options: tuple[str, ...], message: str
) -> None:
    result = run("replay", trace, *options)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_a_trace_is_never_written(run: Run, trace: Path) -> None:
    before = trace.read_bytes()
    result = run("replay-info", trace, "-o", trace)
    assert result.exit_code == 2
    assert "never written" in " ".join(result.stderr.split())
    assert trace.read_bytes() == before
