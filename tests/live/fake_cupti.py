"""The stand-in for CUPTI, built with the compiler that is there: tests/native/fakes/cupti."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "tests" / "native" / "fakes" / "cupti"


def built_fake(folder: Path, *defines: str) -> Path:
    """The library, in `folder`. Skips the test where there is no compiler."""
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler to build the stand-in for CUPTI with")
    library = folder / "libfakecupti.so"
    subprocess.run(
        [
            compiler,
            *("-std=c++17", "-O0", "-shared", "-fPIC", "-fvisibility=hidden", "-pthread"),
            *(f"-D{name}" for name in defines),
            *(f"-I{place}" for place in (ROOT / "native", SOURCES)),
            *map(str, sorted(SOURCES.glob("*.cpp"))),
            "-o",
            str(library),
        ],
        check=True,
    )
    return library
