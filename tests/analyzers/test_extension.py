"""Models and categories of the user's own."""

from dataclasses import replace
from pathlib import Path

import pytest

from dctx.analyzers.collectives import collectives
from dctx.analyzers.extension import Extension, ExtensionError, load
from dctx.analyzers.op_report import op_report
from dctx.analyzers.perf_figures import figures
from dctx.analyzers.report_rules import DCTX
from dctx.queries.trace import Trace
from tests.analyzers.perf_models.calls import call, tensor
from tests.kineto_files import kernel, opened

SOURCE = """
from dctx.analyzers.extension import PerfResult

def scaled(call):
    n = call.count(0)
    back = PerfResult(4 * n, 6 * n)
    return PerfResult(2 * n, 3 * n, unit="matrix", precision="bf16", params={"n": n},
                      family="Mine", backward=back, note="by hand")

MODELS = {"lib::scaled": scaled, "lib::bad.*": lambda call: 1 / 0, "lib::odd": lambda call: 7,
          "lib::none": lambda call: None}
CATEGORIES = {"lib::.*": "mine", "aten::mm": "products"}
"""


@pytest.fixture
def extension(tmp_path: Path) -> Extension:
    path = tmp_path / "mine.py"
    path.write_text(SOURCE)
    return load(path)


def test_a_model_gives_figures_its_family_and_gradients(extension: Extension) -> None:
    model = extension.model("lib::scaled")
    assert model is not None
    assert model.category == "mine"
    found = figures(model, call("lib::scaled", tensor(4, 5)))
    assert (found.flops, found.bytes, found.spec) == (40, 60, "matrix_bf16")
    assert (found.family, found.params, found.note) == ("Mine", {"n": 20}, "by hand")
    back = figures(model, call("lib::scaled", tensor(4, 5)), backward=True)
    assert (back.flops, back.bytes) == (80, 120)


def test_categories_by_name_and_by_pattern(extension: Extension) -> None:
    assert extension.category("aten::mm") == "products"
    assert extension.category("lib::anything") == "mine"
    assert extension.category("aten::mm_out") is None
    assert extension.model("aten::mm") is None


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("lib::bad_one", "ZeroDivisionError"),
        ("lib::odd", "PerfResult or None is expected, not int"),
        ("lib::none", "knows no such call"),
    ],
)
def test_a_model_that_fails_leaves_a_note(extension: Extension, name: str, words: str) -> None:
    model = extension.model(name)
    assert model is not None
    found = figures(model, call(name, tensor(4)))
    assert (found.flops, found.bytes) == (None, None)
    assert words in found.note


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("x = 1\ny = (", r"line 2\): SyntaxError"),
        ("x = 1\n1 / 0", r"line 2\): ZeroDivisionError"),
        ("x = 1", "none of MODELS, CATEGORIES, COMMUNICATION and ANALYZERS"),
        ("MODELS = 3", "MODELS should be a dict"),
        ("MODELS = {'a': 3}", r"MODELS\['a'\] does not fit"),
        ("CATEGORIES = {'(': 'x'}", "no regular expression"),
    ],
)
def test_files_that_cannot_be_used_are_said(tmp_path: Path, source: str, words: str) -> None:
    path = tmp_path / "bad.py"
    path.write_text(source)
    with pytest.raises(ExtensionError, match=words) as error:
        load(path)
    assert str(path) in str(error.value)


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ExtensionError, match="cannot be read"):
        load(tmp_path / "none.py")


def test_what_the_file_prints_is_no_output_and_its_exit_no_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.py"
    path.write_text("import sys\nsys.exit(13)")
    with pytest.raises(ExtensionError, match=r"line 2.*ends the program \(exit 13\)"):
        load(path)
    path.write_text(
        "def talks(call):\n  print('two')\n  raise SystemExit(1)\nprint('one')\n"
        "MODELS = {'lib::talks': talks}"
    )
    model = load(path).model("lib::talks")
    assert model is not None
    found = figures(model, call("lib::talks", tensor(4, 5)))
    assert found.flops is None
    assert "ends the program" in found.note
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "one\ntwo\n")


def test_kernels_of_ones_own_communicate(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text('COMMUNICATION = {"ring_(sum|max)": "allreduce"}')
    rules = replace(DCTX, extension=load(path))
    assert rules.is_communication("void My_Ring_Sum<float>()")
    assert rules.is_communication("ncclDevKernel_AllReduce")
    assert not rules.is_communication("ring_min")
    events = [
        kernel("my_ring_sum", 0, 10, None),
        kernel("gemm", 5, 10, None),
        kernel("ncclDevKernel_AllGather", 20, 4, None),
    ]
    trace = Trace(opened(tmp_path / "run.pt.trace.json", events).store)
    found = collectives(trace, rules)
    assert [found.name_at(i) for i in range(len(found))] == ["allreduce", "allgather"]
    assert len(collectives(trace, DCTX)) == 1
    [device] = op_report(trace, rules).devices
    assert (device.timeline.comm_ns, device.timeline.exposed_comm_ns) == (14_000, 9_000)
