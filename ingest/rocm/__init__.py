"""ROCm: rocprofv3 databases (rocpd), JSON and CSV, and RPD databases."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ..detect import Content

if TYPE_CHECKING:
    from ..inputs import Source
    from ..progress import Progress
    from ..writer import StoreWriter

__all__ = ["READS", "SEVERAL", "load"]

READS: Final = frozenset({Content.ROCPD, Content.RPD, Content.ROCPROFV3, Content.ROCPROF_CSV})
SEVERAL: Final = True


def load(
    sources: Sequence["Source"], writer: "StoreWriter", progress: "Progress", salvage: bool = False
) -> None:
    """Fill the store from the files of one run. See `build.load`."""
    from .build import load as load_files

    load_files(sources, writer, progress, salvage)
