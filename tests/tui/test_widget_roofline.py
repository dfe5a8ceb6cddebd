"""The roofline plot: where points and roofs stand, and that it reads without colour."""

import pytest
from textual.app import App, ComposeResult

from dctx.tui.widgets.log_axes import log_axis, tick_text
from dctx.tui.widgets.roofline_plot import Point, Roof, Roofline, RooflinePlot
from tests.near import near

# A ridge at 1000 / 2 = 500 FLOP/byte.
SHOWN = Roofline(
    (Point(0, 10.0, 5.0, large=True), Point(1, 1000.0, 800.0, large=False)),
    (Roof("matrix_bf16", 1000.0),),
    2.0,
    "matrix_bf16 1,000 TFLOP/s",
)


class PlotApp(App[None]):
    """A plot alone."""

    CSS = "RooflinePlot { width: 1fr; height: 1fr; }"

    def __init__(self, *, ascii_only: bool = False) -> None:
        super().__init__()
        self.ascii_only = ascii_only

    def compose(self) -> ComposeResult:
        yield RooflinePlot()

    @property
    def plot(self) -> RooflinePlot:
        return self.query_one(RooflinePlot)

    def lines(self) -> list[str]:
        return [self.plot.render_line(y).text for y in range(self.plot.size.height)]


def places(lines: list[str], marks: str) -> set[tuple[int, int]]:
    """Column and line, counted from above, of the marks in the field."""
    return {(x, y) for y, line in enumerate(lines[1:-2]) for x, m in enumerate(line) if m in marks}


def test_an_axis_places_powers_of_ten_evenly() -> None:
    axis = log_axis(1.2589254117941673, 1000.0, 30)  # 10 ** 0.1, and 0.1 of room below: 1 to 1000
    assert [axis.place(v) for v in (1, 10, 100)] == near([0, 10, 20])
    assert [value for _, value in axis.ticks] == [1, 10, 100, 1000]
    assert axis.cell(1e9) == 29
    assert axis.cell(1e-9) == 0
    assert axis.value(axis.place(42.0)) == near(42)


def test_an_axis_of_one_value_spans_a_decade() -> None:
    axis = log_axis(5.0, 5.0, 10)
    assert (axis.low, axis.high) == (0, 1)


def test_ticks_are_short() -> None:
    texts = [tick_text(v) for v in (0.001, 1, 1000, 10_000, 1e6, 1e9)]
    assert texts == ["0.001", "1", "1000", "10k", "1M", "1G"]


@pytest.mark.parametrize("size", [(80, 24), (250, 70), (40, 10)])
async def test_points_stand_under_their_roof(size: tuple[int, int]) -> None:
    app = PlotApp()
    async with app.run_test(size=size):
        app.plot.show(SHOWN)
        lines = app.lines()
        assert all(len(line) == size[0] for line in lines)
        assert lines[0].startswith("TFLOP/s  matrix_bf16 1,000 TFLOP/s")
        assert lines[-1].rstrip().endswith("FLOP/byte")
        [(x_low, y_low)], [(x_high, y_high)] = places(lines, "●"), places(lines, "•")
        assert x_low < x_high
        assert y_low > y_high  # lines are counted from above
        labels = [line[:6].strip() for line in lines[1:-2]]
        assert "10" in labels
        assert "1000" in labels
        assert labels.index("1000") < labels.index("10")


async def test_the_row_under_the_cursor_has_a_mark_of_its_own() -> None:
    app = PlotApp()
    async with app.run_test(size=(80, 24)):
        app.plot.show(SHOWN)
        before = places(app.lines(), "•")
        without_ridge = "\n".join(app.lines())
        app.plot.choose(frozenset({1}), "matrix_bf16")
        assert places(app.lines(), "◆") == before
        assert places(app.lines(), "•") == set()
        assert len(places(app.lines(), "●")) == 1
        assert "\n".join(app.lines()) != without_ridge


async def test_ascii_is_ascii() -> None:
    app = PlotApp(ascii_only=True)
    async with app.run_test(size=(80, 24)):
        app.plot.show(SHOWN)
        app.plot.choose(frozenset({0}), "matrix_bf16")
        lines = app.lines()
        assert all(line.isascii() for line in lines)
        assert len(places(lines, "@")) == 1
        # The slope meets the roof at the ridge: 2 TB/s times 500 FLOP/byte.
        assert places(lines, ".")


async def test_without_points_it_says_why() -> None:
    app = PlotApp()
    async with app.run_test(size=(40, 10)):
        app.plot.say = "No roofline: the limits of this GPU are not known."
        app.plot.show(None)
        assert " ".join("".join(app.lines()).split()) == app.plot.say
        app.plot.show(Roofline((), (), 1.0, ""))
        assert "not known" in " ".join(app.lines())


async def test_too_little_room_is_said() -> None:
    app = PlotApp()
    async with app.run_test(size=(20, 5)):
        app.plot.show(SHOWN)
        assert "too little room" in " ".join("".join(app.lines()).split())
