"""Names from a trace are drawn as they are written, and cannot drive the terminal."""

from pathlib import Path

import pytest

from dctx.demo_data.nsys_export import ExportWriter, global_pid, global_tid
from dctx.tui.screens.view import ViewScreen
from tests.tui.app_support import AppPilot, app_of, demo_app, opened, press, settle, started

HOSTILE = (
    "[red]x[/red] [/] [@click=app.quit]q[/] \x1b]0;t\x07\x1b[2J\x9b31m\r\n\t\x85\x7f\u202e\u2066"
)
LITERAL = "[red]x[/red] [/] [@click"


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """An export with such names wherever there can be one."""
    path = tmp_path / "run[red]x[_]\x1b\u202e\x9b.sqlite"
    thread = global_tid(77, 78)
    with ExportWriter(path) as writer:
        writer.describe("2025.1.1", "3.17.0")
        writer.process(77, f"P{HOSTILE}")
        writer.thread(77, 78, f"T{HOSTILE}")
        writer.add(
            "TARGET_INFO_GPU", id=0, name=f"G{HOSTILE}", smCount=10, busLocation="0000:01:00.0"
        )
        writer.add("TARGET_INFO_CUDA_DEVICE", gpuId=0, cudaId=0, pid=77)
        writer.add("DIAGNOSTIC_EVENT", timestamp=1, text=f"D{HOSTILE}", severity=3)
        for start in (1_000, 2_000):
            writer.add(
                "NVTX_EVENTS",
                start=start,
                end=start + 900,
                eventType=59,
                text=f"N{HOSTILE}",
                globalTid=thread,
            )
            writer.add(
                "CUPTI_ACTIVITY_KIND_RUNTIME",
                start=start + 100,
                end=start + 150,
                globalTid=thread,
                correlationId=start,
                nameId=f"A{HOSTILE}",
            )
            writer.add(
                "CUPTI_ACTIVITY_KIND_KERNEL",
                start=start + 200,
                end=start + 700,
                deviceId=0,
                contextId=1,
                streamId=7,
                correlationId=start,
                globalPid=global_pid(77),
                shortName=f"K{HOSTILE}",
                demangledName=f"K<float>{HOSTILE}",
            )
    return path


def screen_text(pilot: AppPilot) -> str:
    """What the terminal is sent, without the styles."""
    screen = pilot.app.screen
    strips = screen._compositor.render_strips()  # pyright: ignore[reportPrivateUsage]
    return "\n".join(strip.text for strip in strips)


def assert_harmless(pilot: AppPilot, where: str) -> str:
    text = screen_text(pilot)
    bad = {c for c in text if c != "\n" and not c.isprintable()}
    assert not bad, f"{where}: {bad}"
    return text


@pytest.mark.parametrize("size", [(200, 50), (80, 24)])
async def test_every_view_draws_names_literally(hostile: Path, size: tuple[int, int]) -> None:
    async with demo_app(hostile).run_test(size=size, notifications=True) as pilot:
        await settle(pilot)
        seen: dict[str, str] = {}

        async def look(where: str, *keys: str) -> None:
            await press(pilot, *keys)
            seen[where] = assert_harmless(pilot, where)

        await look("overview")
        await look("paths", "2")
        for number in range(5):  # process, thread, annotation, call, kernel
            await look(f"path {number}", "E" if number == 0 else "down")
        await look("detail", "v")
        await look("copied path", "y")
        await look("bottom-up", "b")
        await pilot.press("/", *"zzz[red]", "enter")
        await look("no match", "n", "escape")
        await look("kernels", "3")
        await look("kernel detail", "v")
        await look("copied kernel", "y")
        await look("launches", "a")
        await look("copied launch", "y")
        await look("export", "e")
        await look("export refused", *"x/", "enter")
        await look("closed", "escape")
        await look("palette", "colon", "K", "[")
        assert "K[red]x[/red]" in seen["palette"]
        assert "Copied: K[red]x[/red]" in seen["copied kernel"]
        if size[0] == 200:
            assert f"K{LITERAL}" in seen["kernel detail"]
            assert f"K{LITERAL}" in seen["launches"]
            assert f"N{LITERAL}" in seen["path 4"]


async def test_notes_are_drawn_literally(hostile: Path) -> None:
    async with opened(hostile) as pilot:
        app = app_of(pilot)
        app.screen.query_one("#notes").focus()
        text = assert_harmless(pilot, "notes")
        assert f"D{LITERAL}" in text
        await press(pilot, "enter")
        assert f"D{LITERAL}" in assert_harmless(pilot, "note")


async def test_the_picture_and_the_text_are_harmless(hostile: Path) -> None:
    async with opened(hostile) as pilot:
        for view in "123":
            await press(pilot, view)
            picture = app_of(pilot).export_screenshot()
            assert not {c for c in picture if c != "\n" and not c.isprintable()} - {"\xa0"}
            screen = app_of(pilot).screen
            assert isinstance(screen, ViewScreen)
            written = screen.export_text()
            assert not {c for c in written if c != "\n" and not c.isprintable()}


async def test_errors_and_recent_traces_are_drawn_literally(hostile: Path) -> None:
    missing = hostile.with_name("no[red]x[_]\x1b\x9b\u202e.sqlite")
    async with demo_app(missing).run_test(size=(160, 45)) as pilot:
        await settle(pilot)
        assert "no[red]x[_]" in assert_harmless(pilot, "error")
    async with opened(hostile):
        pass
    async with started((160, 45)) as pilot:
        assert "run[red]x[_]" in assert_harmless(pilot, "start")


async def test_the_file_picker_is_harmless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run[red]x[_]\x1b[2J\x9b31m\u202e\x07.sqlite").touch()
    monkeypatch.chdir(tmp_path)
    async with started((160, 45)) as pilot:
        await press(pilot, "o")
        text = assert_harmless(pilot, "picker")
        assert "run[red]x[_][2J31m.sqlite" in text
