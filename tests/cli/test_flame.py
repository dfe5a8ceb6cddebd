"""`dctx flame`: the export's 3 kernels, in files that are read back."""

import json
from pathlib import Path
from xml.etree import ElementTree

from tests.cli.conftest import Run


def total(folded: str) -> int:
    return sum(int(line.rpartition(" ")[2]) for line in folded.splitlines())


def test_all_files_hold_the_gpu_time_of_the_trace(run: Run, export: Path, tmp_path: Path) -> None:
    svg, speedscope = tmp_path / "f.svg", tmp_path / "f.json"
    result = run("flame", export, "--svg", svg, "--speedscope", speedscope, "--folded", "-")
    assert result.exit_code == 0, result.output
    rows = json.loads(
        run("sql", export, "SELECT sum(dur_ns) FROM kernels", "--format", "json").output
    )
    [spent] = rows[0].values()
    assert total(result.output) == spent
    [profile] = json.loads(speedscope.read_text(encoding="utf-8"))["profiles"]
    assert profile["endValue"] == spent
    assert ElementTree.parse(svg).getroot().tag.endswith("svg")
    for options in (["--bottom-up"], ["--hide", "api"], ["--limit", "40"], ["--device", "0"]):
        assert total(run("flame", export, *options).output) == spent
    assert "cuLaunch" not in run("flame", export, "--hide", "api").output
    assert run("flame", export, "--bottom-up").output.splitlines()[0].split(";")[0] in result.output


def test_what_cannot_be_done_is_said(run: Run, export: Path, tmp_path: Path) -> None:
    for options, said in (
        (["--metric", "samples"], "did not record samples"),
        (["--device", "9"], "no GPU 9"),
        (["--svg", "-", "--folded", "-"], "only one FILE can be -"),
        (["--svg", export], "is read here"),
        (["--svg", tmp_path / "none" / "f.svg"], "cannot be written"),
    ):
        result = run("flame", export, *options)
        assert result.exit_code == 2, result.output
        assert said in " ".join(result.output.split())
