"""The Ops view: rows, sums, sorting, filter, single calls, plot, and where rows lead."""

from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Static

from dctx.analyzers.op_hierarchy import Category, Instance, Operator, UniqueCall
from dctx.queries.ancestry import ancestries
from dctx.reports.own_files import own_files
from dctx.tui.demo import demo_trace
from dctx.tui.screens.kernels import KernelsScreen
from dctx.tui.screens.ops import OpsScreen
from dctx.tui.screens.ops_tree import OpSource
from dctx.tui.screens.paths import PathsScreen
from dctx.tui.screens.paths_source import PathSource
from dctx.tui.widgets.big_table import BigTable
from dctx.tui.widgets.detail_pane import DetailPane
from dctx.tui.widgets.roofline_plot import RooflinePlot
from dctx.tui.widgets.row_list import RowList
from dctx.tui.widgets.status_line import StatusLine
from dctx.tui.widgets.title_bar import TitleBar
from dctx.tui.widgets.tree_table import TreeTable
from tests.kineto_files import Event, call, kernel, op, write_json
from tests.near import near
from tests.torch_step import write_step
from tests.tui.app_support import AppPilot, app_of, demo_app, opened, press, settle

DDP = demo_trace().parent / "torch-ddp"


def screen_of(pilot: AppPilot) -> OpsScreen:
    screen = app_of(pilot).screen
    assert isinstance(screen, OpsScreen)
    return screen


def tree_of(pilot: AppPilot) -> TreeTable:
    return screen_of(pilot).query_one(TreeTable)


def source_of(pilot: AppPilot) -> OpSource:
    source = tree_of(pilot).source
    assert isinstance(source, OpSource)
    return source


def shown(pilot: AppPilot) -> list[str]:
    source = source_of(pilot)
    return [line.label for line in source.rows(0, source.row_count())]


def plot_of(pilot: AppPilot) -> RooflinePlot:
    return screen_of(pilot).query_one(RooflinePlot)


def mm(start: float, dur_us: float, number: int, size: int) -> list[Event]:
    """A square product in bf16 and its kernel."""
    shape = [size, size]
    arguments: dict[str, Any] = {
        "Input Dims": [shape, shape],
        "Input type": ["c10::BFloat16", "c10::BFloat16"],
        "Input Strides": [[size, 1], [size, 1]],
        "Concrete Inputs": ["", ""],
    }
    return [
        op("aten::mm", start, 20, **arguments),
        call("cudaLaunchKernel", start + 5, 5, number),
        kernel("gemm", start + 100, dur_us, number),
    ]


@pytest.fixture
def products(tmp_path: Path) -> Path:
    """Products of 4096: 200 and 400 us; one of 512: 10 us; a copy without a model."""
    events = [*mm(0, 200, 1, 4096), *mm(400, 400, 2, 4096), *mm(1000, 10, 3, 512)]
    events += [op("my::op", 1200, 10), call("cudaLaunchKernel", 1202, 2, 4)]
    events.append(kernel("mine", 1250, 5, 4))
    device = [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}]
    return write_json(tmp_path / "products.json", events, deviceProperties=device)


async def test_rows_go_from_category_to_single_call(products: Path) -> None:
    async with opened(products) as pilot:
        await press(pilot, "4")
        source = source_of(pilot)
        top = [source.item(node) for node in range(3)]
        assert isinstance(top[0], Category)
        assert isinstance(top[1], Operator)
        assert isinstance(top[2], UniqueCall)
        assert shown(pilot) == ["GEMM", "other"]
        await press(pilot, "right", "right", "right", "right")
        assert shown(pilot)[:4] == [
            "GEMM",
            "aten::mm",
            "bf16[4096,4096], bf16[4096,4096]",
            "bf16[512,512], bf16[512,512]",
        ]
        await press(pilot, "right")
        assert shown(pilot)[3:5] == ["at 400 µs, host 20.0 µs", "at 0 ns, host 20.0 µs"]
        lines = source.rows(0, 5)
        # 2 * 4096 ** 3 FLOPs, twice, in 600 us; at 989 TFLOP/s they need 278 us.
        assert [line.cells[1] for line in lines] == [
            "610.00",
            "610.00",
            "600.00",
            "400.00",
            "200.00",
        ]
        assert lines[2].cells[5] == f"{2 * 2 * 4096**3 / 600e-6 / 1e12:,.1f}"
        line = source.call(2)
        assert line is not None
        assert line.roofline is not None
        assert lines[2].cells[4] == f"{100 * 2 * line.roofline.time_us / 600:.1f} %"
        assert lines[2].cells[7] == "compute"


async def test_each_level_sums_to_the_next() -> None:
    async with opened(DDP) as pilot:
        await press(pilot, "4")
        tree = source_of(pilot).tree
        assert sum(c.gpu_ns for c in tree.categories) == tree.gpu_ns
        for category in tree.categories:
            assert sum(one.gpu_ns for one in category.operators) == category.gpu_ns
            for operator in category.operators:
                assert sum(one.gpu_ns for one in operator.calls) == operator.gpu_ns
        await press(pilot, "E")
        source = source_of(pilot)
        groups = sum(
            len(c.operators) + sum(len(o.calls) for o in c.operators) for c in tree.categories
        )
        assert source.row_count() == len(tree.categories) + groups


async def test_what_is_not_known_comes_last_in_either_order(products: Path) -> None:
    async with opened(products) as pilot:
        await press(pilot, "4", "E", "s", "o")
        source = source_of(pilot)
        assert source.order == ("percent", True)
        first = [line.cells[4] for line in source.rows(0, source.row_count()) if line.depth == 0]
        await press(pilot, "S")
        assert source.order == ("percent", False)
        again = [line.cells[4] for line in source.rows(0, source.row_count()) if line.depth == 0]
        assert first == again
        assert first[-1] == "n/a"


async def test_the_filter_finds_shapes_and_types(products: Path) -> None:
    async with opened(products) as pilot:
        await press(pilot, "4", "/")
        await pilot.press(*"512")
        await settle(pilot)
        assert shown(pilot) == ["GEMM", "aten::mm", "bf16[512,512], bf16[512,512]"]
        await press(pilot, "enter", "e")
        table = screen_of_behind(pilot).export_table()
        assert [row[1] for row in table.rows] == ["aten::mm"]
        await press(pilot, "escape", "escape")
        assert "other" in shown(pilot)


def screen_of_behind(pilot: AppPilot) -> OpsScreen:
    """The view under a dialog."""
    [view] = [one for one in app_of(pilot).screen_stack if isinstance(one, OpsScreen)]
    return view


async def test_the_export_holds_every_set_of_arguments(products: Path) -> None:
    async with opened(products) as pilot:
        await press(pilot, "4")
        table = screen_of(pilot).export_table()
        rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
        assert [(row["operator"], row["gpu_ns"]) for row in rows] == [
            ("aten::mm", 600_000),
            ("aten::mm", 10_000),
            ("my::op", 5_000),
        ]
        assert rows[0]["flops"] == 2 * 4096**3
        assert rows[2]["flops"] is None
        assert rows[2]["note"] == "no model"


async def test_the_plot_has_a_point_for_each_set_with_a_roofline(products: Path) -> None:
    async with opened(products) as pilot:
        await press(pilot, "4")
        plot = plot_of(pilot)
        assert plot.shown is not None
        calls = {call.group: call for call in source_of(pilot).tree.calls}
        assert {p.key for p in plot.shown.points} == {0, 1}
        for point in plot.shown.points:
            assert (point.x, point.y) == (calls[point.key].intensity, calls[point.key].tflops)
        assert plot.chosen == {0, 1}  # of the category under the cursor
        await press(pilot, "E", "G")
        assert plot.chosen == {2}
        assert "H100, detected from the trace" in screen_of(pilot).query_one(StatusLine).left


async def test_enter_leads_to_the_call_path_and_u_to_the_kernel(products: Path) -> None:
    async with opened(products) as pilot:
        await press(pilot, "4", "enter", "down", "enter", "down", "enter")
        app = app_of(pilot)
        assert isinstance(app.screen, PathsScreen)
        tree = app.screen.query_one(TreeTable)
        assert isinstance(tree.source, PathSource)
        assert app.session is not None
        node = tree.source.view.source(tree.cursor_node)
        assert ancestries(app.session.trace, [node])[node].names[-1] == "aten::mm"
        await press(pilot, "q")
        assert isinstance(app.screen, OpsScreen)
        await press(pilot, "u")
        assert isinstance(app.screen, KernelsScreen)
        row = app.screen.query_one("#table", BigTable).cursor_row
        assert row is not None
        assert row.cells[4] == "gemm"


async def test_the_detail_leads_on(products: Path) -> None:
    async with opened(products) as pilot:
        await press(pilot, "4", "E", "down", "down")
        pane = screen_of(pilot).query_one(DetailPane)
        heading = str(pane.query_one("#heading", Static).content)
        assert "bf16[4096,4096], bf16[4096,4096]" in heading
        assert "bound by compute" in heading
        kernels = pane.query(RowList).first()
        assert kernels.rows[0].label == "gemm"
        kernels.focus()
        await press(pilot, "enter")
        assert isinstance(app_of(pilot).screen, KernelsScreen)


@pytest.mark.parametrize("size", [(80, 24), (250, 70)])
async def test_plot_and_detail_come_and_go(products: Path, size: tuple[int, int]) -> None:
    async with opened(products, size) as pilot:
        await press(pilot, "4")
        screen = screen_of(pilot)
        wide = size[0] > 100
        side, plot = screen.query_one("#ops-side"), plot_of(pilot)
        assert (side.display and plot.display) == wide
        await press(pilot, "p")
        assert bool(side.display and plot.display) != wide
        await press(pilot, "p")
        await press(pilot, "v")
        assert screen.detail_shown != wide
        await press(pilot, "v")
        assert screen.detail_shown == wide


async def test_devices_and_ranks_have_their_own_rows() -> None:
    async with opened(DDP) as pilot:
        await press(pilot, "4")
        first = source_of(pilot).tree.gpu_ns
        await press(pilot, "d")
        second = source_of(pilot).tree.gpu_ns
        assert "GPU 1" in screen_of(pilot).query_one(StatusLine).left
        await press(pilot, "d")
        assert source_of(pilot).tree.gpu_ns == first
        await press(pilot, "r", "r")
        assert screen_of(pilot).query_one(TitleBar).rank == "only rank 1"
        assert source_of(pilot).tree.gpu_ns == second


async def test_an_unknown_gpu_is_named_and_arch_helps(tmp_path: Path) -> None:
    device = [{"id": 0, "name": "Some GPU 9000"}]
    path = write_json(tmp_path / "x.json", mm(0, 200, 1, 4096), deviceProperties=device)
    async with opened(path) as pilot:
        await press(pilot, "4")
        assert plot_of(pilot).shown is None
        line = screen_of(pilot).query_one(StatusLine).left
        assert "no roofline: Some GPU 9000 is not known; start with --arch NAME or FILE" in line
    app = demo_app(path, own_files=own_files("H100"))  # type: ignore[arg-type]
    async with app.run_test(size=(160, 45)) as pilot:
        await settle(pilot)
        await press(pilot, "4")
        assert plot_of(pilot).shown is not None
        assert "H100, asked for by --arch" in screen_of(pilot).query_one(StatusLine).left


async def test_models_of_the_user_count(products: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text(
        "from dctx.analyzers.extension import PerfResult\n"
        "MODELS = {'my::op': lambda call: PerfResult(flops=1e9, bytes=1e6, precision='bf16')}\n"
        "CATEGORIES = {'my::op': 'mine'}\n"
    )
    app = demo_app(products, own_files=own_files(None, own))  # type: ignore[arg-type]
    async with app.run_test(size=(160, 45)) as pilot:
        await settle(pilot)
        await press(pilot, "4")
        assert shown(pilot) == ["GEMM", "mine"]
        call = source_of(pilot).tree.calls[2]
        assert call.tflops == near(1e9 / 5e-6 / 1e12)


async def test_without_operators_it_says_what_works() -> None:
    async with opened() as pilot:  # Nsight Systems
        await press(pilot, "4")
        assert "no operators recorded" in screen_of(pilot).query_one(StatusLine).left
        assert plot_of(pilot).say.startswith("No roofline: the trace records no operators")
        assert source_of(pilot).row_count() > 3


async def test_without_gpu_work_it_says_so(tmp_path: Path) -> None:
    shaped: dict[str, Any] = {"Input Dims": [[2, 3], [3, 4]], "Input type": ["float", "float"]}
    events = [op("aten::mm", 0, 10, **shaped), op("aten::relu", 20, 5)]
    path = write_json(tmp_path / "cpu.json", events)
    async with opened(path) as pilot:
        await press(pilot, "4", "right", "p", "u", "e", "y")
        assert isinstance(app_of(pilot).screen, OpsScreen)
        said = screen_of(pilot).query_one(StatusLine).left
        assert said.startswith("No GPU work in this trace")
        assert "dctx report --sheet op_calls" in said, "it has operators with arguments"


async def test_many_single_calls_are_summed_up(tmp_path: Path) -> None:
    events = [e for n in range(520) for e in mm(n * 50, 10 if n < 510 else 40, n + 1, 512)]
    path = write_json(tmp_path / "many.json", events)
    async with opened(path) as pilot:
        await press(pilot, "4", "E", "G", "right")
        source = source_of(pilot)
        assert source.row_count() == 3 + 501
        rows = [source.item(node) for node in range(3, 504)]
        assert all(isinstance(row, Instance) for row in rows[:500])
        assert sum(row.gpu_ns for row in rows if row is not None) == source.tree.gpu_ns
        assert shown(pilot)[-1] == "20 shorter calls"


async def test_an_operator_without_recorded_arguments_says_so(tmp_path: Path) -> None:
    async with opened(write_step(tmp_path / "step.json")) as pilot:
        await press(pilot, "4", "E")
        assert "no arguments recorded" in shown(pilot)
