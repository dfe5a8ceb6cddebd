"""What `dctx-tui` says before there is a screen."""

import sys
from pathlib import Path

import pytest

from dctx.tui.launch import Options, launch


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("k.csv", b"a,b\n1,2\n", "no table of Nsight Compute's CSV export is in it."),
        ("k.csv", b'"ID","Kernel Name","Metric Value"\n"0","k"\n', "2 cells where the table has 3"),
        ("k.csv", b"\xff\xfe\x00", "this is no text file."),
        ("k.ncu-rep", b"NVR\x00", "ncu --import k.ncu-rep"),
    ],
)
def test_what_is_no_measurement_is_told_in_one_paragraph(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    content: bytes,
    why: str,
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setitem(sys.modules, "ncu_report", None)
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    file = tmp_path / name
    file.write_bytes(content)
    assert launch(None, Options(ncu=(file,))) != 0
    told = capsys.readouterr().err
    text = " ".join(told.split())
    assert text.startswith("dctx-tui: ")
    assert name in text
    assert why in text
    assert "Traceback" not in text
    assert "\n\n" not in told.strip()
