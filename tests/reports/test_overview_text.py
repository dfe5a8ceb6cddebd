"""The overview as text."""

from dataclasses import replace

from dctx.ingest.model import GpuKind, Layer, Severity
from dctx.queries.capture import Capture, DeviceTime, Note
from dctx.queries.kernels import OpStat
from dctx.queries.overview import HostPath, Overview, TopPath
from dctx.reports.overview import facts_line, overview_text

CAPTURE = Capture(
    path="/data/llama.sqlite",
    size_bytes=3 << 20,
    format="nsys sqlite",
    producer="Nsight Systems",
    producer_version="2025.1",
    schema_version="3.17",
    reader="page reader",
    span_ns=14_200_000_000,
    start_utc_ns=None,
    gpu_window_ns=(0, 1_000_000),
    rows={},
    used={},
    unused={},
    orphans={"kernel": 3},
    processes=2,
    devices=1,
    kernels=1_310_000,
    notes=(Note(Severity.WARNING, "capture", "Events were lost. " * 8),),
    facts={},
)
DEVICE = DeviceTime(
    device=0,
    label="GPU 0",
    name="H100",
    assumed=False,
    window_ns=1_000_000,
    compute_ns=441_000,
    comm_exposed_ns=98_000,
    copy_exposed_ns=46_000,
    idle_ns=415_000,
    busy_ns=539_000,
    kernel_count=10,
    kernel_sum_ns=600_000,
    kernel_window_ns=(0, 1_000_000),
)
KERNEL = OpStat(GpuKind.KERNEL, "flash_fwd_" * 12, 1, False, 1_234, 441_000, 1, 9, 0.5, 0.381, None)
PATH = TopPath(
    node=4,
    names=("python3", "thread 7", "_forward_step", "run(at::Tensor)", "cudaGraphLaunch"),
    layers=(Layer.PROCESS, Layer.THREAD, Layer.ANNOTATION, Layer.NATIVE, Layer.API),
    gpu_ns=441_000,
    share=0.7,
    kernels=99,
)


def test_facts_line() -> None:
    assert facts_line(CAPTURE) == (
        "llama.sqlite · Nsight Systems 2025.1 · 1 GPU · 2 processes · 14.2 s · 1.31 M kernels · "
        "3 without a recorded launch · 3.00 MiB"
    )


def test_everything_fits_80_columns() -> None:
    text = overview_text(Overview(CAPTURE, [DEVICE], [KERNEL], [PATH], []))
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    assert "  GPU 0  kernels 53.9 %  H100" in lines
    assert "    compute 44.1 % + comm exposed 9.8 % + copy 4.6 % + idle 41.5 % = 100 %" in lines
    assert any(line.startswith("   38.1 %    441 µs      1,234    357 ns  flash") for line in lines)
    assert lines[-2:] == [
        "   70.0 %    441 µs         99",
        "      python3 > _forward_step > cudaGraphLaunch",
    ]
    assert any(line.startswith("! Events were lost.") for line in lines)
    assert "\x1b" not in text


def test_headings_are_bold_when_asked() -> None:
    text = overview_text(Overview(CAPTURE, [], [KERNEL], [], []), color=True)
    assert "\x1b[1mTop kernels, share of all GPU work\x1b[0m" in text


def test_no_gpu_work_is_said_and_not_shown_as_idle() -> None:
    capture = replace(CAPTURE, gpu_window_ns=None, kernels=None, orphans={}, notes=())
    host = HostPath(3, ("python3", "step"), (Layer.PROCESS, Layer.ANNOTATION), 750, 0.75, 4)
    text = overview_text(Overview(capture, [], [], [], [host]))
    assert "No GPU work was recorded" in text
    assert "idle" not in text
    assert " 0.0 %" not in text
    assert text.splitlines()[-2:] == ["   75.0 %    750 ns          4", "      python3 > step"]


def test_what_is_lacking_is_said_with_its_reason() -> None:
    facts = {
        "capability.shapes": "recorded without record_shapes.",
        "capability.python_frames": "recorded without with_stack.",
        "capability.memory": "",
        "capability.gpu_work": "only CPU events: record with ProfilerActivity.CUDA.",
    }
    text = overview_text(Overview(replace(CAPTURE, facts=facts), [DEVICE], [KERNEL], [PATH], []))
    lines = text.splitlines()
    first = lines.index("i No Python frames: recorded without with_stack.")
    assert lines[first + 1] == "i No operator shapes: recorded without record_shapes."
    assert "memory events" not in text
    assert "GPU work:" not in text  # a view of GPU work is not empty
    capture = replace(CAPTURE, gpu_window_ns=None, kernels=None, notes=(), facts=facts)
    text = overview_text(Overview(capture, [], [], [], []))
    assert (
        "No GPU work was recorded, so GPU times are n/a: only CPU events: record with\n"
        "ProfilerActivity.CUDA."
    ) in text
