"""What can be taken along from a view: a text to the clipboard, the whole to a file."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from ..key_model import View
from ..widgets.fit import clean
from .early_keys import EarlyKeys

if TYPE_CHECKING:
    from ..export import Table
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

    def action_export(self) -> None:
        if self.session is None or not self.exportable:
            self.notify("There is nothing to export yet.")
            return
        from ..export import TargetCheck
        from .prompt import PromptScreen

        picture = self.app.export_screenshot(title=clean(self.session.path.name))
        self.app.push_screen(
            PromptScreen(
                "Export the view",
                f"{clean(self.session.path.stem)}-{self.EXPORT_NAME or self.VIEW}.csv",
                "In the current directory. The ending chooses: .csv values, .txt, .svg picture.",
                TargetCheck(Path.cwd(), self.session.files),
            ),
            partial(self._export, picture),
        )

    def _export(self, picture: str, name: str | None) -> None:
        if name is None:
            return
        target = Path.cwd() / name

        def write() -> str:
            ending = target.suffix.lower()
            try:
                if ending == ".svg":
                    target.write_text(picture, encoding="utf-8")
                elif ending == ".csv":
                    target.write_text(self.export_table().csv(), encoding="utf-8")
                else:
                    target.write_text(self.export_text(), encoding="utf-8")
            except OSError as error:
                return f"{target}: {error.strerror}. Choose another place."
            return f"Written: {target}"

        self.ask("export", write, partial(self.notify, markup=False))
