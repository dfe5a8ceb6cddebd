"""Files are there whole or as they were."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from dctx.reports.workbook import _Output  # pyright: ignore[reportPrivateUsage]
from dctx.reports.written import replacing


def test_the_file_is_replaced_at_the_end_only(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(0o640)
    with replacing(path) as place:
        place.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("broken", [OSError(errno.ENOSPC, "full"), KeyboardInterrupt()])
def test_what_fails_leaves_what_was_there(tmp_path: Path, broken: BaseException) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")

    def write() -> None:
        with replacing(path) as place:
            place.write_text("ne")
            raise broken

    with pytest.raises(type(broken)) as raised:
        write()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]
    if isinstance(raised.value, OSError):
        assert raised.value.filename == str(path)
        assert raised.value.strerror == os.strerror(errno.ENOSPC)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    with replacing(tmp_path / "link") as place:
        place.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_device_is_written_itself() -> None:
    with replacing(Path(os.devnull)) as place:
        place.write_text("nothing")
    assert Path(os.devnull).is_char_device()


def test_a_folder_that_is_not_there_is_named_by_the_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as raised, replacing(tmp_path / "no" / "a.txt"):
        pass
    assert raised.value.filename == str(tmp_path / "no" / "a.txt")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_an_archive_that_cannot_be_written_fails_once() -> None:
    import zipfile

    out = _Output("/dev/full", "w")
    archive = zipfile.ZipFile(out, "w")
    with pytest.raises(OSError, match="No space"):
        archive.writestr("a", "text")
    out.close()
    archive.close()  # as when it is thrown away: nothing is said again
