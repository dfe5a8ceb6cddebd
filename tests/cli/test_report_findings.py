"""`dctx report --findings`: the list as text, JSON and Markdown, analyzers of the user's own."""

import json
import re
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.kineto_files import kernel, write_json
from tests.planted import COPY, GEMM, Program, op, python

OWN = """
from dctx.analyzers.findings import Finding, Weight
ANALYZERS = {"mine": lambda facts: [Finding("mine", Weight.SEVERE, "Mine.", "Do it.")]}
"""


pytestmark = pytest.mark.usefixtures("lasting_traces")


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace with casts and a wait."""
    program = Program()
    for _ in range(4):
        with program.within(python, "train.py(7): loss"):
            with program.within(op, "aten::_to_copy"), program.within(op, "aten::copy_"):
                program.launch(COPY, 400)
            program.launch(GEMM, 1000)
            with program.within(op, "aten::item"):
                program.wait(late=200)
    return program.write(tmp_path_factory.mktemp("planted"))


def test_the_text_tells_place_gain_and_check_in_80_columns(run: Run, planted: Path) -> None:
    text = run("report", planted, "--findings").stdout
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    casts = text.index("type-casts: Conversions between element types take")
    assert 0 < casts < text.index("sync: ")  # the larger gain first
    for part in ("Try: Keep weights", "Gain: at most", "all time of these kernels", "Check: ",
                 "Path: ", "> loss"):  # fmt: skip
        assert part in text


def test_the_json_holds_gain_path_and_kernels(run: Run, planted: Path) -> None:
    document = json.loads(run("report", planted, "--findings", "--json", "-").stdout)
    assert document["schema"] == "findings/1"
    found = {finding["id"]: finding for finding in document["findings"]}
    gain = found["type-casts"]["gain"]
    assert gain["at_most_ns"] == 4 * 400_000
    first, kernel = found["type-casts"]["evidence"]
    assert (first["what"], first["path"][-1]) == ("loss (train.py:7)", "loss")
    assert (kernel["name"], kernel["kind"], kernel["path"]) == (COPY, "kernel", None)


def test_the_list_is_written_to_a_file_and_as_markdown(
    run: Run, planted: Path, tmp_path: Path
) -> None:
    target = tmp_path / "found.json"
    assert run("report", planted, "--findings", "--json", target).stdout == ""
    document = json.loads(target.read_text())
    assert document["inputs"] == [str(planted)]
    # The three forms tell the same findings in one order, with the same gains and evidence.
    markdown = run("report", planted, "--findings", "--md").stdout
    text = run("report", planted, "--findings").stdout
    told = document["findings"]
    assert re.findall(r"^- \*\*([\w-]+)\*\*: ", markdown, re.MULTILINE) == [f["id"] for f in told]
    assert re.findall(r"^  (?:!!|! |i ) ([\w-]+): ", text, re.MULTILINE) == [f["id"] for f in told]
    gains = [f"{f['gain']['share']:.1%}".replace("%", " %") for f in told if f["gain"]]
    assert re.findall(r"^  - Gain: at most ([\d.]+ %)", markdown, re.MULTILINE) == gains
    assert re.findall(r"^ +Gain: at most ([\d.]+ %)", text, re.MULTILINE) == gains
    shown = re.findall(r"^  - `(.*)`: ", markdown, re.MULTILINE)
    assert shown == [one["what"] for f in told for one in f["evidence"]]


def test_conditions_and_own_analyzers_change_the_list(
    run: Run, planted: Path, tmp_path: Path
) -> None:
    own = tmp_path / "own.py"
    own.write_text(OWN)
    text = run(
        "report", planted, "--findings", "--analyzer", own,
        "--threshold", "findings.type-casts.share=0.9",
    ).stdout  # fmt: skip
    assert "type-casts" not in text
    assert "mine: Mine." in text


def test_analyzers_in_the_users_folder_are_found(
    run: Run, planted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DCTX_CONFIG_DIR", str(tmp_path))
    (tmp_path / "analyzers").mkdir()
    (tmp_path / "analyzers" / "own.py").write_text(OWN)
    (tmp_path / "analyzers" / "bad.py").write_text("def (")
    text = " ".join(run("report", planted, "--findings").stdout.split())
    assert "mine: Mine." in text
    assert "bad.py cannot be used (line 1): SyntaxError" in text


def test_the_example_of_the_documentation_finds_copies(run: Run, tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "findings.md").read_text()
    own = tmp_path / "own.py"
    own.write_text(text.split("```python\n")[1].split("```")[0])
    program = Program()
    with program.within(op, "aten::copy_"):
        program.launch("Memcpy DtoD (Device -> Device)", 300, cat="gpu_memcpy")
    program.launch(GEMM, 700)
    shown = run("report", program.write(tmp_path), "--findings", "--analyzer", own).stdout
    assert "device-copies: Copies on the device take long." in shown
    assert "(300 µs): all copies on the device." in shown


def test_analyzers_of_installed_packages_are_found(
    run: Run, planted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "their_analyzers.py").write_text(OWN + "\nfind = ANALYZERS['mine']\n")
    package = tmp_path / "their_analyzers-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text(
        "[dctx.analyzers]\nmine = their_analyzers:find\ngone = their_analyzers:no_such\n"
        "data = their_analyzers:ANALYZERS\n"
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    text = " ".join(run("report", planted, "--findings").stdout.split())
    assert "mine: Mine." in text
    assert "The analyzer gone of the entry point their_analyzers:no_such failed" in text
    assert "a function of the facts is expected, not dict" in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--analyzer", "x.py"), "need --findings"),
        (("--findings", "--csv", "out"), "writes text, --json or --md"),
        (("--findings", "--sheet", "ops"), "leave out --sheet"),
        (("--findings", "--threshold", "findings.sync.x=1"), "no limit 'x'"),
        (("--findings", "--analyzer", "none.py"), "cannot be read"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    run: Run, planted: Path, options: tuple[str, ...], words: str
) -> None:
    refused = run("report", planted, *options)
    assert refused.exit_code == 2
    assert words in " ".join(refused.stderr.split())


def test_no_findings_is_no_clean_bill_where_the_gpu_waits(run: Run, tmp_path: Path) -> None:
    def after(gap_us: int) -> str:
        kernels = [kernel("gemm", at * (10 + gap_us), 10, None) for at in range(20)]
        path = write_json(tmp_path / f"{gap_us}.json", kernels)
        return " ".join(run("report", path, "--findings").stdout.split())

    assert after(1).endswith("That is the normal result of a healthy trace.")
    assert "no analyzer's condition is met. That does not make the trace a healthy one: the GPUs " \
        "wait for the host: idle (no kernel running) 90.5 %" in after(100)  # fmt: skip
