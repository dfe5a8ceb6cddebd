"""The sheets of what operators compute and move, on hand-made traces."""

import json
from ast import literal_eval
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.kineto_files import (
    AUTOGRAD,
    MAIN,
    Event,
    backward,
    call,
    forward,
    kernel,
    op,
    python,
    write_json,
)
from tests.near import near

FLOATS: dict[str, Any] = {
    "Input Dims": [[1000, 1000], [1000, 1000]],
    "Input type": ["float", "float"],
    "Input Strides": [[1000, 1], [1000, 1]],
    "Concrete Inputs": ["", ""],
}
ROOT: dict[str, Any] = FLOATS | {"Input Dims": [[10], []]}
Q: list[int] = [1, 2, 64, 8]
ATTENTION: dict[str, Any] = {
    "Input Dims": [Q, Q, Q, [], [], [], []],
    "Input type": ["c10::BFloat16"] * 3 + ["Scalar"] * 4,
    "Input Strides": [[1024, 512, 8, 1]] * 3 + [[]] * 4,
    "Concrete Inputs": ["", "", "", "0.", "True", "False", ""],
}


def launch(ts: float, number: int, **args: Any) -> Event:
    return call("cudaLaunchKernel", ts, 2, number, **args)


def step() -> list[Event]:
    """A product within `aten::linear`, with a bias kernel of linear's own; a square root that
    launches by itself; attention with its gradient; communication; a piece without a launch."""
    sdpa = forward("aten::_scaled_dot_product_flash_attention", 60, 20, 7)
    sdpa["args"] |= ATTENTION
    wrapper = "autograd::engine::evaluate_function: FlashBackward0"
    return [
        op("aten::linear", 0, 40),
        op("aten::mm", 2, 20, **FLOATS),
        launch(4, 1),
        kernel("ampere_sgemm_128x64_tn", 100, 4000, 1),
        launch(30, 2),
        kernel("bias", 4100, 10, 2),
        op("aten::sqrt", 50, 8, **ROOT),
        launch(52, 3),
        kernel("sqrt", 4200, 5, 3),
        sdpa,
        launch(62, 4),
        kernel("flash_fwd", 4300, 20, 4),
        backward(wrapper, 200, 60, 7),
        backward("FlashBackward0", 202, 40, 7),
        op("mine::gradient", 204, 30, 200),
        call("cudaLaunchKernel", 206, 2, 5, 200),
        kernel("flash_bwd", 4400, 50, 5),
        op("record_param_comms", 300, 10),
        launch(302, 6),
        kernel("ncclDevKernel_AllReduce", 4500, 30, 6),
        kernel("lost", 4600, 7, None),
    ]


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    device = [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}]
    return write_json(tmp_path / "run.pt.trace.json", step(), deviceProperties=device)


def rows(run: Run, trace: Path, sheet: str, *options: str) -> list[dict[str, Any]]:
    result = run("report", trace, "--sheet", sheet, "--json", "-", *options)
    assert result.exit_code == 0, result.output
    found: list[dict[str, Any]] = json.loads(result.stdout)["sheets"][sheet]["rows"]
    return found


def test_each_piece_of_work_is_in_one_row(run: Run, trace: Path) -> None:
    found = rows(run, trace, "unified_perf_summary")
    assert [(r["name"], r["op category"], r["Kernel Time (µs)_sum"]) for r in found] == [
        ("aten::mm", "GEMM", 4000.0),
        ("FlashBackward0", "SDPA_bwd", 50.0),
        ("aten::_scaled_dot_product_flash_attention", "SDPA_fwd", 20.0),
        ("aten::linear->bias (Synthetic Op)", "other", 10.0),
        ("unlinked->lost (Synthetic Op)", "other", 7.0),
        ("aten::sqrt", "elementwise", 5.0),
    ]
    assert sum(r["Percentage (%)"] for r in found) == near(100)
    direct = sum(r["total_direct_kernel_time_sum"] for r in rows(run, trace, "ops_unique_args"))
    assert sum(r["Kernel Time (µs)_sum"] for r in found) == direct


def test_figures_rates_and_roofline(run: Run, trace: Path) -> None:
    """2·10^9 operations in 4 ms; 66.9·10^12/s by the data sheet: 29.9 µs; 12 MB at 3350 GB/s."""
    mm = rows(run, trace, "unified_perf_summary")[0]
    assert (mm["GFLOPS"], mm["Data Moved (MB)"]) == (2.0, 12e6 / 2**20)
    assert mm["FLOPS/Byte"] == near(2e9 / 12e6)
    assert (mm["TFLOPS/s_mean"], mm["TB/s_mean"]) == (near(0.5), near(0.003))
    assert (mm["Compute Spec"], mm["Roofline Bound"]) == ("matrix_fp32", "COMPUTE_BOUND")
    assert mm["Roofline Time (µs)_first"] == near(2e9 / 66.9e6)
    assert mm["Pct Roofline_mean"] == near(100 * 2e9 / 66.9e6 / 4000)
    assert mm["Roofline Basis"] == "peak"
    assert literal_eval(mm["perf_params"])["K"] == 1000
    assert mm["has_perf_model"] is True
    assert (mm["mean_duration_us"], mm["std_duration_us"]) == (20.0, None)


def test_a_gradient_alone_takes_the_cost_of_its_forward_operator(run: Run, trace: Path) -> None:
    """Causal, 64 x 64 / 2 pairs, 2 heads of 8: 2·2·2048·(3·8 + 2·8)."""
    found = {r["name"]: r for r in rows(run, trace, "unified_perf_summary")}
    assert found["FlashBackward0"]["GFLOPS"] == near(2 * 2 * 2048 * 40 / 1e9)
    [family] = rows(run, trace, "SDPA_bwd")
    assert (family["param: N_Q"], family["param: causal"]) == (64, True)
    assert (family["Kernel Time (µs)_sum"], family["name_count"]) == (50.0, 1)


def test_families_hold_their_parameters(run: Run, trace: Path) -> None:
    [mm] = rows(run, trace, "GEMM")
    assert list(mm)[:9] == ["name", "param: M", "param: N", "param: K", "param: bias",
                            "param: stride_A", "param: stride_B", "param: dtype_A_B",
                            "param: B"]  # fmt: skip
    assert (mm["param: M"], mm["param: bias"], mm["param: stride_A"]) == (1000, False, "(1000, 1)")
    assert mm["Kernel Time (µs)_sum"] == 4000.0
    missing = run("report", trace, "--sheet", "CONV_fwd")
    assert missing.exit_code == 2
    assert "no operator of this family" in missing.stderr


def test_notes_say_what_is_not_known(run: Run, trace: Path) -> None:
    found = {r["name"]: r for r in rows(run, trace, "unified_perf_summary")}
    lost = found["unlinked->lost (Synthetic Op)"]
    assert (lost["model_note"], lost["GFLOPS"], lost["has_perf_model"]) == ("no model", None, False)
    assert lost["total_duration_us"] is None


def test_compat_knows_fewer_models_and_no_device(run: Run, trace: Path) -> None:
    found = rows(run, trace, "unified_perf_summary", "--compat", "tracelens")
    by_name = {r["name"]: r for r in found}
    assert by_name["aten::sqrt"]["has_perf_model"] is False
    assert "Roofline Bound" not in found[0]
    assert "model_note" not in found[0]
    assert "unlinked->lost (Synthetic Op)" not in by_name


def test_the_architecture_is_the_one_asked_for(
    run: Run, trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "own.json"
    file.write_text(json.dumps({"name": "Own", "mem_bw_gbps": 1,
                                "peak_tflops": {"matrix_fp32": 1}}))  # fmt: skip
    mm = rows(run, trace, "unified_perf_summary", "--arch", str(file))[0]
    assert (mm["Roofline Time (µs)_first"], mm["Roofline Bound"]) == (12000.0, "MEMORY_BOUND")
    folder = tmp_path / "config" / "architectures"
    folder.mkdir(parents=True)
    file.rename(folder / "own.json")
    monkeypatch.setenv("DCTX_CONFIG_DIR", str(tmp_path / "config"))
    assert rows(run, trace, "GEMM", "--arch", "own")[0]["Roofline Time (µs)_first"] == 12000.0
    unknown = run("report", trace, "--arch", "X1")
    assert unknown.exit_code == 2
    assert "There is no architecture 'X1'" in unknown.stderr


def test_models_of_ones_own(run: Run, trace: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from dctx.analyzers.extension import PerfResult\n"
        "MODELS = {'mine::gradient': lambda call: PerfResult(1e9, 2e6, family='Mine')}\n"
        "CATEGORIES = {'mine::.*': 'gradients', 'aten::sqrt': 'roots'}\n"
    )
    found = {r["name"]: r for r in rows(run, trace, "unified_perf_summary", "--ext", str(file))}
    assert "FlashBackward0" not in found
    assert (found["mine::gradient"]["op category"], found["mine::gradient"]["GFLOPS"]) == (
        "gradients",
        1.0,
    )
    assert found["aten::sqrt"]["op category"] == "roots"
    [mine] = rows(run, trace, "Mine", "--ext", str(file))
    assert mine["Kernel Time (µs)_sum"] == 50.0
    file.write_text("x = (")
    broken = run("report", trace, "--ext", file)
    assert broken.exit_code == 2
    assert "line 1): SyntaxError" in broken.stderr


def test_steps_of_serving_tell_calls_with_equal_arguments_apart(run: Run, tmp_path: Path) -> None:
    shapes: dict[str, Any] = {
        "Input Dims": [[2, 4, 8], [2, 2, 8], [2, 2, 8]],
        "Input type": ["c10::BFloat16"] * 3,
        "Concrete Inputs": ["", "", ""],
    }
    events: list[Event] = []
    for number, keys in enumerate((10, 30)):
        ts = 100 * number
        name = f"execute_2_context_0(sq0sk0sqsq0sqsk0)_generation_2(sq2sk{keys}sqsq2sqsk{keys})"
        events += [
            op(name, ts, 90) | {"cat": "user_annotation"},
            op("vllm::unified_attention_with_output", ts + 10, 50, **shapes),
            launch(ts + 12, number),
            kernel("paged", 1000 + ts, 10, number),
        ]
    found = rows(run, write_json(tmp_path / "serve.json", events), "unified_perf_summary")
    assert sorted(r["GFLOPS"] for r in found) == [
        near(2 * 4 * 16 * 10 / 1e9),
        near(2 * 4 * 16 * 30 / 1e9),
    ]


def train_step() -> list[Event]:
    """A step: a module within another, an optimizer, a gradient, a recomputation, and work of
    none of them."""
    found: list[Event] = []
    places = [
        ("aten::relu", 20, MAIN),
        ("aten::exp", 60, MAIN),
        ("aten::add_", 140, MAIN),
        ("aten::mul", 310, AUTOGRAD),
        ("aten::relu", 350, AUTOGRAD),
        ("aten::neg", 370, AUTOGRAD),
        ("aten::sin", 500, MAIN),
    ]
    for number, (name, ts, tid) in enumerate(places):
        found += [
            op(name, ts, 8, tid),
            call("cudaLaunchKernel", ts + 2, 2, number, tid),
            kernel(f"k{number}", 1000 + 100 * number, 10 + number, number),
        ]
    checkpoint = "CheckpointFunctionBackward"
    return [
        *found,
        op("ProfilerStep#4", 0, 200) | {"cat": "user_annotation"},
        python("nn.Module: Net_0", 10, 90, 1, 0),
        python("nn.Module: Act_3", 15, 20, 2, 1),
        op("Optimizer.step#SGD.step", 130, 30) | {"cat": "user_annotation"},
        op("autograd::engine::evaluate_function: MulBackward0", 300, 30, AUTOGRAD),
        op(f"autograd::engine::evaluate_function: {checkpoint}", 340, 60, AUTOGRAD),
        op(checkpoint, 342, 56, AUTOGRAD),
        op("autograd::engine::evaluate_function: NegBackward0", 365, 20, AUTOGRAD),
    ]


def test_phase_step_and_module_of_operators(run: Run, tmp_path: Path) -> None:
    trace = write_json(tmp_path / "train.pt.trace.json", train_step())
    found = [
        (r["name"], r["phase"], r["step"], r["parent_module"]) for r in rows(run, trace, "ops")
    ]
    assert found == [
        ("aten::relu", "forward", "ProfilerStep#4", "Act"),
        ("aten::exp", "forward", "ProfilerStep#4", "Net"),
        ("aten::add_", "optimizer", "ProfilerStep#4", None),
        ("aten::mul", "backward", None, None),
        ("aten::relu", "recompute", None, None),
        ("aten::neg", "backward", None, None),
        ("aten::sin", "other", None, None),
    ]


def test_modules_have_the_time_of_their_calls_and_their_work(run: Run, tmp_path: Path) -> None:
    """The work of Act is 10 µs, that of Net itself 11 µs."""
    trace = write_json(tmp_path / "train.pt.trace.json", train_step())
    found = rows(run, trace, "nn_modules")
    words = ("module path", "depth", "Count", "host_time_us", "gpu_time_us", "self_gpu_time_us")
    assert [tuple(r[w] for w in words) for r in found] == [
        ("Net_0", 0, 1, 90.0, 21.0, 11.0),
        ("Net_0/Act_3", 1, 1, 20.0, 10.0, 10.0),
    ]
    assert sum(r["Percentage (%)"] for r in found) == near(100)


def test_without_modules_the_sheet_is_missing(run: Run, trace: Path) -> None:
    result = run("report", trace, "--sheet", "nn_modules")
    assert result.exit_code == 2
    assert "with_stack=True" in result.stderr


def test_the_report_says_which_limits_it_used(run: Run, trace: Path, tmp_path: Path) -> None:
    def told(path: Path, *options: str) -> str:
        found = {r["key"]: r["value"] for r in rows(run, path, "report_info", *options)}
        return str(found["architecture"])

    assert told(trace).startswith("device 0: H100, by the name NVIDIA H100 80GB HBM3; 3350 GB/s")
    assert told(trace, "--arch", "b200").startswith("device 0: B200, asked for")
    unnamed = write_json(tmp_path / "other.pt.trace.json", step())
    assert "no rooflines. --arch names one" in told(unnamed)
