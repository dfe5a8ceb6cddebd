"""Files of the user's that change a report: architectures and extensions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..analyzers.architecture import Architecture
    from ..analyzers.extension import Extension

_VARIABLE = "DCTX_CONFIG_DIR"


def architectures(text: str | None) -> tuple[tuple[Architecture, ...], Architecture | None]:
    """The architectures in the user's folder, and the one asked for. UserError."""
    from platformdirs import user_config_dir

    from ..analyzers.architecture import ArchitectureError, chosen, of_folder
    from ..reports.failures import UserError

    folder = Path(os.environ.get(_VARIABLE) or user_config_dir("dctx")) / "architectures"
    try:
        own = of_folder(folder)
        return tuple(own), None if text is None else chosen(text, own)
    except ArchitectureError as error:
        raise UserError(str(error)) from error


def extension_of(path: Path | None) -> Extension | None:
    """The extension in a file. UserError."""
    if path is None:
        return None
    from ..analyzers.extension import ExtensionError, load
    from ..reports.failures import UserError

    try:
        return load(path)
    except ExtensionError as error:
        raise UserError(str(error)) from error
