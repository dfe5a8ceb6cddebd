"""Lines of a program around a place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dctx.reports.source_lines import SourceLines, source_lines

TEXT = "".join(f"line {number}\n" for number in range(1, 13))


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "model.py"
    path.write_text(TEXT)
    return str(path)


def lines(file: str, line: int) -> SourceLines:
    found = source_lines(file, line)
    assert isinstance(found, SourceLines)
    return found


def test_the_lines_around(program: str) -> None:
    assert lines(program, 10).numbered() == [
        "   7  line 7", "   8  line 8", "   9  line 9", "> 10  line 10", "  11  line 11",
        "  12  line 12",
    ]  # fmt: skip
    assert lines(program, 1).lines == ("line 1", "line 2", "line 3", "line 4")
    assert lines(program, 12).first == 9


def test_tabs_and_ends_and_foreign_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"\tx = 1\r\n# gr\xfc\xdfe\n" + b"y" * 5000)
    found = lines(str(path), 2).lines
    assert found[:2] == ("    x = 1", "# gr\ufffd\ufffde")
    assert len(found[2]) == 400


def test_why_there_are_none(program: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "bytes").write_bytes(b"\x7fELF\0\0\n" * 9)
    (tmp_path / "large").touch()
    os.truncate(tmp_path / "large", (64 << 20) + 1)
    expected = {
        (program, None): "the line was not recorded",
        (program, 13): "no line 13 in the file on this machine",
        (program, 10**18): f"no line {10**18} in the file on this machine",
        ("<string>", 3): "no file: the code was made while the program ran",
        (f"{program}x", 3): "not on this machine",
        (f"{program}/x.py", 3): "not on this machine",
        (str(tmp_path), 3): "no regular file on this machine",
        (str(tmp_path / "pipe"), 3): "no regular file on this machine",
        (str(tmp_path / "bytes"), 3): "no text",
        (str(tmp_path / "large"), 1): "too large for a source file",
        ("a\0b", 3): "cannot be read (embedded null byte)",
    }
    assert {place: source_lines(*place) for place in expected} == expected


@pytest.mark.parametrize(("began_ns", "changed"), [(None, False), (5, True), (5_000, False)])
def test_a_file_written_after_the_recording(
    program: str, began_ns: int | None, changed: bool
) -> None:
    os.utime(program, ns=(1_000, 1_000))
    found = source_lines(program, 3, since_utc_ns=began_ns)
    assert isinstance(found, SourceLines)
    assert found.changed is changed
