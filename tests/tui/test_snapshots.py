"""What each view looks like, on the demo trace, at the sizes people have.

The pictures are of one version of Textual; another one may draw them a little differently.
"""

from collections.abc import Awaitable, Callable
from importlib.metadata import version
from pathlib import Path

import pytest
from textual.pilot import Pilot

from dctx.ingest.ncu import NcuKernel, NcuLine
from dctx.ingest.recording.cubin_lines import can_read_lines
from dctx.tui.app import DctxApp, StartApp
from dctx.tui.demo import demo_trace
from dctx.tui.loading import Loading
from tests.torch_step import write_ranks, write_source, write_step
from tests.tui.app_support import AppPilot, compare_app, demo_app, press, settle
from tests.tui.test_recorded_samples import recorded

TEXTUAL = "8.2.8"

pytestmark = pytest.mark.skipif(
    version("textual") != TEXTUAL, reason=f"the pictures were made with Textual {TEXTUAL}"
)

Compare = Callable[..., bool]
SIZES = [(80, 24), (160, 45)]


def after(*keys: str, text: str = "") -> Callable[[Pilot[None]], Awaitable[None]]:
    """Wait for the trace, press keys, type a text, wait again."""

    async def run(pilot: AppPilot) -> None:
        await settle(pilot)
        await press(pilot, *keys)
        if text:
            await pilot.press(*text)
            await settle(pilot)

    return run


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize(
    "keys",
    [
        ("1",),
        ("2", "z"),
        ("2", "b", "right"),
        ("3", "down"),
        ("3", "enter"),
        ("2", "?"),
        ("2", "s"),
        ("3", "e"),
        ("6",),
        ("6", "pagedown", "pagedown", "space", "right", "enter"),
    ],
    ids=[
        *("overview", "paths", "bottom-up", "kernels", "launches", "help", "sorting", "export"),
        *("steps", "chosen-steps"),
    ],
)
def test_view(
    snap_compare: Compare, keys: tuple[str, ...], size: tuple[int, int], home: Path
) -> None:
    assert snap_compare(demo_app(), terminal_size=size, run_before=after(*keys))


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_start(
    snap_compare: Compare, size: tuple[int, int], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DCTX_STATE_DIR", str(home / "state"))
    assert snap_compare(StartApp(), terminal_size=size, run_before=after())


@pytest.mark.parametrize("keys", [("2", "v"), ("3", "v")], ids=["paths", "kernels"])
def test_detail_at_80(snap_compare: Compare, keys: tuple[str, ...]) -> None:
    assert snap_compare(demo_app(), terminal_size=(80, 24), run_before=after(*keys))


def test_filter(snap_compare: Compare) -> None:
    run = after("2", "/", text="cudaGraphLaunch")
    assert snap_compare(demo_app(), terminal_size=(80, 24), run_before=run)


@pytest.mark.parametrize("theme", ["light", "ansi"])
def test_theme(snap_compare: Compare, theme: str) -> None:
    app = demo_app(theme_name=theme)
    assert snap_compare(app, terminal_size=(80, 24), run_before=after("2", "z"))


def test_ascii(snap_compare: Compare) -> None:
    app = demo_app(ascii_only=True)
    assert snap_compare(app, terminal_size=(120, 32), run_before=after("2", "z"))


@pytest.mark.usefixtures("home")
def test_error(snap_compare: Compare) -> None:
    Path("empty.sqlite").touch()
    app = demo_app(Path("empty.sqlite"))
    assert snap_compare(app, terminal_size=(80, 24), run_before=after())


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory to be in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize(
    "keys",
    [
        ("1",),
        ("2", "L", "down", "enter"),
        ("2", "L", "down", "enter", "escape", "E", "down", "down", "down", "down", "down"),
        ("M",),
        ("2", "r"),
    ],
    ids=["overview", "layers", "modules", "memory", "rank"],
)
def test_torch(
    snap_compare: Compare, keys: tuple[str, ...], size: tuple[int, int], home: Path
) -> None:
    app = demo_app(write_ranks(home / "run"))
    assert snap_compare(app, terminal_size=size, run_before=after(*keys))


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=lambda s: f"{s[0]}x{s[1]}")
def test_kernel(snap_compare: Compare, size: tuple[int, int], home: Path) -> None:
    run = after("3", "down", "i")
    assert snap_compare(demo_app(), terminal_size=size, run_before=run)


SAMPLED = [
    NcuLine(
        "0x2a0", "LDG.E.128 R4, [R2.64]",
        {"long_scoreboard": 610, "lg_throttle": 90, "selected": 40}, 500,
        "/src/attention.cu", 112, "  const auto k = load(keys, tile);",
    ),
    NcuLine(
        "0x2b0", "HMMA.16816.F32 R8, R4, R6, R8", {"math_pipe_throttle": 140, "selected": 90},
        20, "/src/attention.cu", 118, "  mma(acc, q, k);",
    ),
    NcuLine("0x2c0", "BAR.SYNC.DEFER_BLOCKING 0x0", {"barrier": 160, "selected": 10}, 80),
]  # fmt: skip


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=lambda s: f"{s[0]}x{s[1]}")
def test_kernel_with_stalls(snap_compare: Compare, size: tuple[int, int], home: Path) -> None:
    measured = [NcuKernel("nvjet_tst_128x64_64x8_2x1_v_bz_TNT", lines=SAMPLED)]
    loading = Loading(demo_trace())
    loading.start()
    run = after("3", "down", "i", *["pagedown"] * (size[1] < 40))
    app = DctxApp(loading, measured=measured)
    assert snap_compare(app, terminal_size=size, run_before=run)


@pytest.mark.skipif(not can_read_lines(), reason="needs pyelftools")
@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=lambda s: f"{s[0]}x{s[1]}")
def test_sampled_recording(snap_compare: Compare, size: tuple[int, int], home: Path) -> None:
    run = after("3", "i", *["pagedown"] * (size[1] < 40))
    assert snap_compare(recorded(), terminal_size=size, run_before=run)


DDP = Path(str(demo_trace())).parent / "torch-ddp"
REPORT_SIZES = [(80, 24), (120, 40), (200, 60)]


@pytest.mark.parametrize("size", REPORT_SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize(
    "keys", [("4", "E", "down", "down"), ("7", "tab")], ids=["operators", "collectives"]
)
def test_reports(
    snap_compare: Compare, keys: tuple[str, ...], size: tuple[int, int], home: Path
) -> None:
    assert snap_compare(demo_app(DDP), terminal_size=size, run_before=after(*keys))


@pytest.mark.parametrize("option", ["ascii", "no-colour"])
@pytest.mark.parametrize("keys", [("4", "E", "down", "down", "p"), ("7",)], ids=["plot", "waits"])
def test_plain_reports(
    snap_compare: Compare,
    keys: tuple[str, ...],
    option: str,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if option == "no-colour":
        monkeypatch.setenv("NO_COLOR", "1")
    app = demo_app(DDP, ascii_only=option == "ascii")
    assert snap_compare(app, terminal_size=(80, 24), run_before=after(*keys))


@pytest.mark.parametrize("keys", [("4",), ("7",)], ids=["operators", "collectives"])
def test_reports_of_an_nsys_trace(snap_compare: Compare, keys: tuple[str, ...], home: Path) -> None:
    assert snap_compare(demo_app(), terminal_size=(120, 40), run_before=after(*keys))


WINDOW = ("5", "]", "]", *["+"] * 5, "]", *["down"] * 6, "]")


@pytest.mark.parametrize("size", REPORT_SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("keys", [("5",), WINDOW], ids=["whole", "window"])
def test_timeline(
    snap_compare: Compare, keys: tuple[str, ...], size: tuple[int, int], home: Path
) -> None:
    assert snap_compare(demo_app(), terminal_size=size, run_before=after(*keys))


def test_timeline_light(snap_compare: Compare, home: Path) -> None:
    app = demo_app(theme_name="light")
    assert snap_compare(app, terminal_size=(80, 24), run_before=after(*WINDOW))


def test_timeline_plain(snap_compare: Compare, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = demo_app(ascii_only=True)
    assert snap_compare(app, terminal_size=(80, 24), run_before=after(*WINDOW))


@pytest.mark.parametrize("option", ["ascii", "no-colour"])
def test_plain_memory(
    snap_compare: Compare, option: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if option == "no-colour":
        monkeypatch.setenv("NO_COLOR", "1")
    app = demo_app(write_step(home / "step.json"), ascii_only=option == "ascii")
    assert snap_compare(app, terminal_size=(80, 24), run_before=after("M"))


@pytest.mark.parametrize("keys", [("M",), ("1",)], ids=["memory", "overview"])
def test_what_a_trace_lacks(snap_compare: Compare, keys: tuple[str, ...], home: Path) -> None:
    app = demo_app(write_step(home / "step.json", memory=False))
    assert snap_compare(app, terminal_size=(80, 24), run_before=after(*keys))


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=lambda s: f"{s[0]}x{s[1]}")
def test_compare(snap_compare: Compare, size: tuple[int, int], home: Path) -> None:
    assert snap_compare(compare_app(), terminal_size=size, run_before=after("]"))


@pytest.mark.parametrize("keys", [("f", "down", "down"), ("T",)], ids=["flame", "steps"])
def test_compare_parts(snap_compare: Compare, keys: tuple[str, ...], home: Path) -> None:
    assert snap_compare(compare_app(), terminal_size=(120, 40), run_before=after(*keys))


def test_compare_plain(snap_compare: Compare, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = compare_app(ascii_only=True)
    assert snap_compare(app, terminal_size=(80, 24), run_before=after("f"))


@pytest.mark.parametrize("size", REPORT_SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_flame(snap_compare: Compare, size: tuple[int, int], home: Path) -> None:
    run = after("2", "z", "f", "/", text="forward")
    assert snap_compare(demo_app(), terminal_size=size, run_before=run)


@pytest.mark.parametrize("theme", ["light", "ansi"])
def test_flame_theme(
    snap_compare: Compare, theme: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if theme == "ansi":
        monkeypatch.setenv("NO_COLOR", "1")
    app = demo_app(theme_name=theme, ascii_only=theme == "ansi")
    run = after("2", "b", "f", "/", text="flash")
    assert snap_compare(app, terminal_size=(80, 24), run_before=run)


def source_app(home: Path, **options: bool | str) -> DctxApp:
    """A trace whose sources are here: `train.py`, in the directory one is in."""
    write_source(home / "train.py")
    return demo_app(write_step(home / "step.json"), **options)


@pytest.mark.parametrize("size", REPORT_SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_source(snap_compare: Compare, size: tuple[int, int], home: Path) -> None:
    run = after("2", "z", "O", "tab")
    assert snap_compare(source_app(home), terminal_size=size, run_before=run)


@pytest.mark.parametrize("theme", ["light", "ansi"])
def test_source_theme(
    snap_compare: Compare, theme: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if theme == "ansi":
        monkeypatch.setenv("NO_COLOR", "1")
    app = source_app(home, theme_name=theme, ascii_only=theme == "ansi")
    assert snap_compare(app, terminal_size=(80, 24), run_before=after("2", "z", "O"))


@pytest.fixture
def no_history(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DCTX_STATE_DIR", str(home / "state"))
    monkeypatch.setenv("DCTX_CONFIG_DIR", str(home / "own"))


@pytest.mark.usefixtures("no_history")
@pytest.mark.parametrize("size", REPORT_SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_sql(snap_compare: Compare, size: tuple[int, int]) -> None:
    assert snap_compare(demo_app(), terminal_size=size, run_before=after("9", "Q", "enter"))


@pytest.mark.usefixtures("no_history")
@pytest.mark.parametrize("theme", ["light", "ansi"])
def test_sql_theme(snap_compare: Compare, theme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if theme == "ansi":
        monkeypatch.setenv("NO_COLOR", "1")
    app = demo_app(theme_name=theme, ascii_only=theme == "ansi")
    assert snap_compare(app, terminal_size=(80, 24), run_before=after("9", "T", "down", "enter"))
