"""`dctx baseline`, and `@NAME` wherever a trace is named."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "data"
    monkeypatch.setenv("DCTX_DATA_DIR", str(folder))
    return folder


def test_a_baseline_outlives_its_trace(run: Run, export: Path, tmp_path: Path) -> None:
    before = export.read_bytes()
    done = run("baseline", "save", "main", export)
    assert done.exit_code == 0, done.stderr
    assert "saved @main" in done.stderr
    assert export.read_bytes() == before
    kept = tmp_path / "kept.sqlite"
    export.rename(kept)
    for entry in (tmp_path / "cache").iterdir():
        entry.unlink()
    done = run("compare", "@main", kept, "--kernels", "--json")
    assert done.exit_code == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["dctx"]["inputs"][0] == "@main"
    rows = document["dctx"]["side_by_side"]["gpu_work_by_name"]["rows"]
    assert {row["name"]: row["gpu_us"]["delta"] for row in rows} == {"gemm": 0, "copy_kernel": 0}
    assert run("info", "@main").exit_code == 0


def test_list_and_remove(run: Run, export: Path, own_data: Path) -> None:
    assert run("baseline", "list").stdout == ""
    assert run("baseline", "list", "--json").stdout == "[]\n"
    for name in ("b", "a"):
        assert run("baseline", "save", name, export).exit_code == 0
    text = run("baseline", "list").stdout
    assert [line.split()[0] for line in text.splitlines()[2:]] == ["a", "b"]
    assert str(export) in text
    [first, _] = json.loads(run("baseline", "list", "--json").stdout)
    assert (first["name"], first["source"], first["trouble"]) == ("a", str(export), None)
    assert first["size_bytes"] == (own_data / "baselines" / "a.dctx").stat().st_size
    assert run("baseline", "remove", "@a").exit_code == 0
    assert [item["name"] for item in json.loads(run("baseline", "list", "--json").stdout)] == ["b"]
    again = run("baseline", "remove", "a")
    assert again.exit_code == 2
    assert "@a: there is no baseline of this name. `dctx baseline list`" in again.stderr


def test_a_name_is_not_taken_twice_without_a_word(run: Run, export: Path) -> None:
    assert run("baseline", "save", "main", export).exit_code == 0
    again = run("baseline", "save", "main", export)
    assert again.exit_code == 2
    assert "@main: a baseline of this name exists. Give --replace" in again.stderr
    assert run("baseline", "save", "main", export, "--replace").exit_code == 0


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", ".hidden", "-x", "a b", "a" * 65])
def test_bad_names(run: Run, export: Path, own_data: Path, name: str) -> None:
    done = run("baseline", "save", "--", name, export)
    assert done.exit_code == 2
    assert "Traceback" not in done.stderr
    assert not list(own_data.rglob("*.dctx"))


def test_no_such_baseline(run: Run, export: Path) -> None:
    done = run("compare", "@none", export)
    assert done.exit_code == 2
    assert "@none: there is no baseline of this name." in done.stderr


def test_a_file_with_such_a_name_is_still_a_file(
    run: Run, export: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(export.parent)
    export.rename("@run.sqlite")
    assert run("info", "@run.sqlite").exit_code == 0


def test_what_a_failed_save_began_is_gone(run: Run, tmp_path: Path, own_data: Path) -> None:
    broken = tmp_path / "broken.sqlite"
    broken.write_bytes(b"SQLite format 3\0" + bytes(100))
    done = run("baseline", "save", "main", broken)
    assert done.exit_code == 2
    assert not list(own_data.rglob("*.*"))


def test_another_version_says_how_to_go_on(
    run: Run, export: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("baseline", "save", "main", export).exit_code == 0
    monkeypatch.setattr("dctx.ingest.store.STORE_VERSION", 999)
    done = run("compare", "@main", "@main")
    assert done.exit_code == 2
    assert "@main: the store has version" in done.stderr
    assert "Save it again: dctx baseline save main TRACE --replace." in done.stderr
    listed = run("baseline", "list")
    assert listed.exit_code == 0
    assert "cannot be used: the store has version" in listed.stdout


def test_a_damaged_one_says_how_to_go_on(run: Run, export: Path, own_data: Path) -> None:
    assert run("baseline", "save", "main", export).exit_code == 0
    [kept] = own_data.rglob("*.dctx")
    for rest in (b"junk\n", b"", kept.read_bytes()[:5000]):
        kept.write_bytes(rest)
        done = run("compare", "@main", export)
        assert done.exit_code == 2
        assert done.stderr.startswith("dctx: error: @main: ")
        assert done.stderr.endswith("Save it again: dctx baseline save main TRACE --replace.\n")
        assert "cannot be used: " in run("baseline", "list").stdout


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_nothing_can_be_written(run: Run, export: Path, own_data: Path) -> None:
    own_data.mkdir(mode=0o500)
    done = run("baseline", "save", "main", export)
    assert done.exit_code == 2
    assert "@main: the baseline cannot be written" in done.stderr


def test_only_the_owner_may_look(run: Run, export: Path, own_data: Path) -> None:
    assert run("baseline", "save", "main", export).exit_code == 0
    [path] = own_data.rglob("*.dctx")
    assert path.stat().st_mode & 0o077 == 0
    assert path.parent.stat().st_mode & 0o077 == 0
