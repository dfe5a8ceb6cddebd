"""Files of the user's that change a report: architectures and extensions."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..analyzers.architecture import Architecture
    from ..analyzers.extension import Extension
    from ..analyzers.report_rules import Rules

_VARIABLE = "DCTX_CONFIG_DIR"


@dataclass(frozen=True, slots=True)
class OwnFiles:
    """What the user has and asks for."""

    architectures: tuple[Architecture, ...] = ()
    """In the user's folder."""
    chosen: Architecture | None = None
    """Asked for on the command line; None: by the name of the device."""
    extension: Extension | None = None

    def rules(self, rules: Rules) -> Rules:
        """The rules with the user's models and categories."""
        return replace(rules, extension=self.extension)

    def architecture(self, device: str) -> Architecture | None:
        """The limits of a device of this name; None: not known."""
        from ..analyzers.architecture import detected

        return self.chosen or detected(device, list(self.architectures))


def own_files(architecture: str | None = None, extension: Path | None = None) -> OwnFiles:
    """The user's files. UserError for one that cannot be read or holds something else."""
    own, chosen = architectures(architecture)
    return OwnFiles(own, chosen, extension_of(extension))


def architectures(text: str | None) -> tuple[tuple[Architecture, ...], Architecture | None]:
    """The architectures in the user's folder, and the one asked for. UserError."""
    from platformdirs import user_config_dir

    from ..analyzers.architecture import ArchitectureError, chosen, of_folder
    from .failures import UserError

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
    from .failures import UserError

    try:
        return load(path)
    except ExtensionError as error:
        raise UserError(str(error)) from error
