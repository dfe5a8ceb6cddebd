"""Files of the user's that change a report: architectures and extensions."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..analyzers.architecture import Architecture
    from ..analyzers.extension import Extension
    from ..analyzers.report_rules import Rules
    from ..analyzers.user_analyzer import UserAnalyzer

_VARIABLE = "DCTX_CONFIG_DIR"


@dataclass(frozen=True, slots=True)
class OwnFiles:
    """What the user has and asks for."""

    architectures: tuple[Architecture, ...] = ()
    """In the user's folder."""
    chosen: Architecture | None = None
    """Asked for on the command line; None: by the name of the device."""
    extension: Extension | None = None
    analyzers: tuple[UserAnalyzer, ...] = ()
    """Of the user's folder, the extension and the files named for them, each id once: the last."""

    def all_analyzers(self) -> tuple[UserAnalyzer, ...]:
        """Those, and before them what installed packages offer, each id once: the last."""
        from ..analyzers.user_analyzer import installed_analyzers

        known = [*installed_analyzers(), *self.analyzers]
        return tuple({analyzer.id: analyzer for analyzer in known}.values())

    def rules(self, rules: Rules) -> Rules:
        """The rules with the user's models and categories."""
        return replace(rules, extension=self.extension)

    def architecture(self, device: str) -> Architecture | None:
        """The limits of a device of this name; None: not known."""
        from ..analyzers.architecture import detected

        return self.chosen or detected(device, list(self.architectures))


def own_files(
    architecture: str | None = None,
    extension: Path | None = None,
    analyzers: Sequence[Path] = (),
) -> OwnFiles:
    """The user's files. UserError for one that cannot be read or holds something else."""
    own, chosen = architectures(architecture)
    found = extension_of(extension)
    folder = own_folder("analyzers")
    listed = sorted(folder.glob("*.py")) if folder.is_dir() else []
    named = [one for path in analyzers if (one := extension_of(path)) is not None]
    known = [*named, *([] if found is None else [found])]
    every = [*(one for path in listed for one in _in_folder(path))]
    every += [analyzer for one in known for analyzer in one.analyzers]
    return OwnFiles(own, chosen, found, tuple({one.id: one for one in every}.values()))


def _in_folder(path: Path) -> tuple[UserAnalyzer, ...]:
    """The analyzers of a file that nobody named: one that cannot be used says so in the list of
    findings, and hinders nothing else."""
    from ..analyzers.extension import ExtensionError, load
    from ..analyzers.user_analyzer import unusable

    try:
        return load(path).analyzers
    except ExtensionError as error:
        return (unusable(path.stem, str(path), str(error)),)


def usable_files(given: OwnFiles | None) -> tuple[OwnFiles, str]:
    """Those that are given, else of the user's folders; where one cannot be read those of dctx
    alone, and why: an application goes on without."""
    from .failures import UserError

    if given is not None:
        return given, ""
    try:
        return own_files(), ""
    except UserError as error:
        return OwnFiles(), f"own architectures are left out: {error}"


def architectures(text: str | None) -> tuple[tuple[Architecture, ...], Architecture | None]:
    """The architectures in the user's folder, and the one asked for. UserError."""
    from ..analyzers.architecture import ArchitectureError, chosen, of_folder
    from .failures import UserError

    try:
        own = of_folder(own_folder("architectures"))
        return tuple(own), None if text is None else chosen(text, own)
    except ArchitectureError as error:
        raise UserError(str(error)) from error


def own_stamp() -> str:
    """What the user's folders hold and which packages are installed, as far as findings depend on
    it: other files, another stamp."""
    packages = [Path(text) for text in sys.path if text.endswith("-packages")]
    found = [(str(path), 0, path.stat().st_mtime_ns) for path in packages if path.is_dir()]
    for name in ("architectures", "analyzers"):
        folder = own_folder(name)
        if folder.is_dir():
            told = [(path, path.stat()) for path in sorted(folder.iterdir())]
            found += [(f"{name}/{path.name}", at.st_size, at.st_mtime_ns) for path, at in told]
    return repr(found)


def own_folder(name: str) -> Path:
    from platformdirs import user_config_dir

    return Path(os.environ.get(_VARIABLE) or user_config_dir("dctx")) / name


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
