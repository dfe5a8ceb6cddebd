"""What can be taken along from a view: a text to the clipboard, the whole to a file."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from ..key_model import View
from ..widgets.fit import clean
from .early_keys import EarlyKeys

if TYPE_CHECKING:
    from ..export import Table, Writer
    from ..session import Session


class TakingScreen(EarlyKeys):
    """Copies and exports."""

    VIEW: ClassVar[View]
    EXPORT_NAME: ClassVar[str] = ""
    """What exports of the view are called; the view's own name if empty."""

    def __init__(self) -> None:
        super().__init__()
        self.session: Session | None = None

    # ---------------------------------------------------- for the subclasses --

    @property
    def exportable(self) -> bool:
        """Whether there is anything to export yet."""
        return False

    def export_table(self) -> "Table":
        """The rows as raw values. Called in a worker."""
        raise NotImplementedError

    def export_text(self) -> str:
        """The rows as people read them. Called in a worker."""
        return self.export_table().text()

    # ------------------------------------------------------- copy and export --

    def copy(self, text: str) -> None:
        """To the terminal's clipboard, also over SSH (OSC 52)."""
        self.app.copy_to_clipboard(text)
        shown = clean(text if len(text) <= 60 else text[:59] + "…")
        self.notify(f"Copied: {shown}", markup=False)

    def writers(self, picture: str) -> "Mapping[str, Writer]":
        """How the view is written, by the ending of the file's name; the first is offered."""
        texts: dict[str, Callable[[], str]] = {
            ".csv": lambda: self.export_table().csv(),
            ".txt": self.export_text,
            ".svg": lambda: picture,
        }
        return {ending: partial(_write_text, text) for ending, text in texts.items()}

    @property
    def export_hint(self) -> str:
        """What the endings mean."""
        return "The ending chooses: .csv values, .txt, .svg picture."

    @property
    def export_name(self) -> str:
        """What the file is called after the trace."""
        return self.EXPORT_NAME or self.VIEW

    def action_export(self) -> None:
        if self.session is None or not self.exportable:
            self.notify("There is nothing to export yet.")
            return
        from ..export import TargetCheck
        from .prompt import PromptScreen

        title = clean(self.session.path.name)
        writers = self.writers(self.app.export_screenshot(title=title))
        endings = tuple(writers)
        self.app.push_screen(
            PromptScreen(
                "Export the view",
                f"{clean(self.session.path.stem)}-{self.export_name}{endings[0]}",
                f"In the current directory. {self.export_hint}",
                TargetCheck(Path.cwd(), self.session.files, endings),
            ),
            partial(self._export, writers),
        )

    def _export(self, writers: "Mapping[str, Writer]", name: str | None) -> None:
        if name is not None:
            self.export_to(writers, name)

    def export_to(self, writers: "Mapping[str, Writer]", name: str) -> None:
        """Write the file on a thread."""
        target = Path.cwd() / name
        write_file = writers[target.suffix.lower()]

        def write() -> str:
            from ...reports.written import replacing
            from ..export import NotWrittenError

            try:
                with replacing(target) as place:
                    write_file(place)
            except OSError as error:
                return f"{target}: {error.strerror}. Choose another place."
            except NotWrittenError as error:
                return f"Nothing was written. {error}"
            return f"Written: {target}"

        self.ask("export", write, self.exported)

    def exported(self, text: str) -> None:
        """The file is written, or why not."""
        self.notify(text, markup=False)


def _write_text(text: "Callable[[], str]", place: Path) -> None:
    place.write_text(text(), encoding="utf-8")
