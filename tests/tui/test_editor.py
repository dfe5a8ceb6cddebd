"""How editors are told a line, and what is said when there is nothing to open."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from textual.app import App

from dctx.reports.source_map import SourceMap, source_map
from dctx.tui.editor import editor_command, open_in_editor


@pytest.mark.parametrize(
    ("editor", "command"),
    [
        ("vim", ["vim", "+7", "a.py"]),
        ("/usr/bin/nano -w", ["/usr/bin/nano", "-w", "+7", "a.py"]),
        ("emacs -nw", ["emacs", "-nw", "+7", "a.py"]),
        ("code", ["code", "--wait", "--goto", "a.py:7"]),
        ("code --wait", ["code", "--wait", "--goto", "a.py:7"]),
        ("hx", ["hx", "a.py:7"]),
        ("", ["vi", "+7", "a.py"]),
    ],
)
def test_each_editor_is_told_the_line_in_its_way(
    editor: str, command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EDITOR", raising=False)
    monkeypatch.setenv("VISUAL", editor)
    assert editor_command("a.py", 7) == command
    assert "7" not in " ".join(editor_command("a.py", None))


def test_folders_are_mapped_by_the_longest() -> None:
    sources = source_map(("/w=/home/me", "/w/deep/=/else", "/f.py=/g.py", "/my src=/her src"))
    assert sources.local("/my src/b c.py") == "/her src/b c.py"
    assert sources.local("/w/a/b.py") == "/home/me/a/b.py"
    assert sources.local("/w/deep/b.py") == "/else/b.py"
    assert sources.local("/wide/b.py") == "/wide/b.py"
    assert sources.local("/f.py") == "/g.py"
    assert SourceMap((("/", "/root"),)).local("/a.py") == "/root/a.py"
    with pytest.raises(ValueError, match="THERE=HERE"):
        source_map(("/w",))


def test_what_is_missing_is_said_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app: App[None] = App()
    assert "does not tell" in open_in_editor(app, None, None)
    said = open_in_editor(app, "/w/a.py", 3, SourceMap((("/w", str(tmp_path)),)))
    assert said == (
        f"{tmp_path}/a.py is not on this machine (/w/a.py in the trace). Start with "
        "--source-map /w=FOLDER where its sources are here."
    )
    assert "--source-map '/my src=FOLDER' where" in open_in_editor(app, "/my src/a.py", 3)
    monkeypatch.setenv("VISUAL", "'")
    (tmp_path / "a.py").touch()
    assert "$EDITOR cannot be read" in open_in_editor(app, str(tmp_path / "a.py"), 3)
    assert "--source-map a.py=FILE where" in open_in_editor(app, "a.py", 3)


class Suspending(App[None]):
    """As Textual does it: what fails while it is suspended leaves it so."""

    resumed = 0

    @contextmanager
    def suspend(self) -> Generator[None]:
        yield
        self.resumed += 1


def test_it_comes_back_from_an_editor_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.py").touch()
    app = Suspending()
    monkeypatch.setenv("VISUAL", "/no/such/editor")
    assert "No such file or directory. Set $EDITOR" in open_in_editor(app, f"{tmp_path}/a.py", 3)
    monkeypatch.setenv("VISUAL", "false")
    assert open_in_editor(app, f"{tmp_path}/a.py", 3) == "false ended with code 1."
    assert app.resumed == 2
