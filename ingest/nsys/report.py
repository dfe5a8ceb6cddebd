"""Reports (`.nsys-rep`, `.qdrep`): `nsys` itself turns them into exports."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ..cache import discard, entry_path, make_private, temporary_path, tidy, touch
from ..errors import DamagedTraceError, NotATraceError
from ..progress import Done, Progress, part_of

_REPORTS: Final = (".nsys-rep", ".qdrep")
_UNFINISHED: Final = ".qdstrm"
_POLL_S: Final = 0.1
_EXPORT_SHARE: Final = 0.6
"""Share of the whole that the export takes in the progress shown."""


@contextmanager
def as_export(path: Path, progress: Progress, *, cache: bool) -> Generator[tuple[Path, Progress]]:
    """The file to read for `path` and the progress to tell then: of a report, its export, made
    with `nsys`, never beside the report."""
    suffix = path.suffix.lower()
    if suffix == _UNFINISHED:
        raise NotATraceError(
            path,
            "this is an unfinished collection of Nsight Systems.",
            "Import it where it was recorded: QdstrmImporter --input-file " + path.name,
        )
    if suffix not in _REPORTS:
        yield path, progress
        return

    def later(stage: str, done: Done) -> None:
        progress(stage, part_of(done, _EXPORT_SHARE, 1.0))

    if cache:
        try:
            target = entry_path(path, "export", ".sqlite")
            make_private(target.parent)
            probe = temporary_path(target)
            probe.touch()
            probe.unlink()
        except OSError:
            pass
        else:
            if not target.exists():
                tidy(target)
                _export(path, target, progress)
            touch(target)
            yield target, later
            return
    import tempfile

    with tempfile.TemporaryDirectory(prefix="dctx-") as folder:
        target = Path(folder) / "export.sqlite"
        _export(path, target, progress)
        yield target, later


def _export(path: Path, target: Path, progress: Progress) -> None:
    """Run `nsys export`; the target appears when it is complete."""
    import shutil  # only where there is a report: these take a while to import
    import subprocess
    import tempfile

    program = shutil.which("nsys")
    if program is None:
        raise NotATraceError(path, *_without_nsys(path))
    temporary = temporary_path(target)
    command = [
        program,
        "export",
        "--type=sqlite",
        "--force-overwrite=true",
        f"--output={temporary}",
        str(path),
    ]
    progress("Exporting with nsys", 0.0)
    expected = max(path.stat().st_size * 3, 1)
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
        try:
            while True:
                try:
                    code = process.wait(_POLL_S)
                    break
                except subprocess.TimeoutExpired:
                    done = temporary.stat().st_size if temporary.exists() else 0
                    share = min(done / expected, 0.95)
                    progress("Exporting with nsys", _EXPORT_SHARE * share)
        except BaseException:
            process.kill()
            process.wait()
            discard(temporary)
            raise
        output.seek(0)
        said = output.read().decode(errors="replace").strip()
    if code != 0 or not temporary.exists():
        discard(temporary)
        version = _version(program)
        raise DamagedTraceError(
            path,
            f"nsys export failed: {said or f'exit code {code}'} ({version}).",
            "Export it with the nsys version that recorded it, or a newer one.",
        )
    temporary.chmod(0o600)
    temporary.replace(target)


def _version(program: str) -> str:
    import subprocess

    try:
        said = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return "version not known"
    return said.stdout.strip() or "version not known"


def _without_nsys(path: Path) -> tuple[str, str]:
    what = "This is an Nsight Systems report. dctx reads its SQLite export:"
    remedy = (
        f"run `nsys export --type=sqlite {path.name}` where nsys is installed (same or newer "
        f"version), then open {path.stem}.sqlite."
    )
    export = path.with_suffix(".sqlite")
    if export.exists():
        status = export.stat()
        if status.st_size == 0:
            remedy += f" {export.name} beside it is empty: that export was interrupted."
        elif status.st_mtime < path.stat().st_mtime:
            remedy += f" {export.name} beside it is older than the report."
        else:
            remedy = f"open {export.name} beside it."
    return what, remedy
