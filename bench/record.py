"""What recording costs a training loop, beside torch.profiler in the same process."""

import importlib.util
import json
import subprocess
import sys
from statistics import median

from dctx.native import Recorder, monitor

from .results import Figure

ROUNDS = 7
_SHARE, _SHARE_OF_STACK = 0.75, 0.65
_RATIO, _EVENT_NS = 1.35, 250.0
_NATIVE_RATIOS = {"cached": 1.40, "exact": 1.90}
_LAUNCH_NS = 150.0
_LARGE_RATIO = 1.05
_MEMORY_MB, _GROWTH_MB, _LONG_GROWTH_MB = 5.0, 0.5, 1.0
_FILE_MB, _NATIVE_FILE_MB, _FILE_GROWTH, _STOP_S = 0.1, 1.0, 0.05, 0.3


def _measured(what: str, model: str, number: int = ROUNDS) -> dict[str, list[float]]:
    argv = [sys.executable, "-m", f"{__package__}.record_models", what, model, str(number)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(argv)}: {done.stderr.strip()}")
    values: dict[str, list[float]] = json.loads(done.stdout.splitlines()[-1])
    return values


def _overheads(model: str) -> list[Figure]:
    ratios = _measured("overheads", model)
    events = ratios["events per step"][0]
    idle, ours, profiler, stack = (
        ratios[mode] for mode in ("idle", "dctx", "profiler", "with_stack")
    )

    def share(of: list[float], what: list[float] = ours) -> float:
        return median((a - 1) / (b - 1) for a, b in zip(what, of, strict=True))

    label = f"record {model}"
    harsh = model == "tfm"
    note = f"{events:,.0f} events a step; least {min(ours):.3f}"
    return [
        Figure(f"{label}: time ratio", median(ours), "times", _RATIO if harsh else None, note=note),
        Figure(f"{label}: torch.profiler's ratio", median(profiler), "times"),
        Figure(f"{label}: its ratio with stacks", median(stack), "times"),
        Figure(f"{label}: overhead, share of the profiler's", share(profiler), "", _SHARE),
        Figure(f"{label}: of it what torch takes to tell of events", share(profiler, idle), "",
               note="a hook that does nothing: no profiler can take less"),
        Figure(f"{label}: share of that with stacks", share(stack), "", _SHARE_OF_STACK),
        Figure(f"{label}: each event", median(ratios["ns per event"]), "ns",
               _EVENT_NS if harsh else None),
    ]  # fmt: skip


def _launch() -> Figure:
    """Begin and end of a call that launches GPU work, and what is remembered for its records. What
    the vendor's library costs is not in it."""
    monitor.init(monitor.Source.PYTHON | monitor.Source.SCOPE)
    try:
        return Figure("record: each launch", Recorder.measured_launch_ns(), "ns", _LAUNCH_NS)
    finally:
        monitor.finalize()


def _large() -> Figure:
    ratios = _measured("overheads", "large")["dctx"]
    return Figure("record large: time ratio", median(ratios), "times", _LARGE_RATIO,
                  note=f"operators of 20 µs and more; least {min(ratios):.3f}")  # fmt: skip


def _memory() -> list[Figure]:
    memory = _measured("growth", "tfm", 10)
    contexts = " and ".join(f"{count:,.0f}" for count in memory["contexts"])
    long = _measured("growth", "mlp", 100)
    return [
        Figure("record tfm: memory, 200 steps", memory["recording bytes"][0] / 1e6, "MB",
               _MEMORY_MB, note=f"{contexts} contexts after 200 and 2,000"),
        Figure("record tfm: memory, 1,800 more", memory["growth bytes"][0] / 1e6, "MB",
               _GROWTH_MB),
        Figure("record mlp: memory, steps 201 to 20,000", long["growth bytes"][0] / 1e6, "MB",
               _LONG_GROWTH_MB),
    ]  # fmt: skip


def _files() -> list[Figure]:
    found = _measured("files", "tfm")
    figures: list[Figure] = []
    for sources, target in (("python,op", _FILE_MB), ("python,op,native", _NATIVE_FILE_MB)):
        short, long = found[f"bytes {sources}"]
        label = f"record tfm, {sources}"
        figures += [
            Figure(f"{label}: file, 2,000 steps", long / 1e6, "MB", target),
            Figure(f"{label}: file, growth from 200", long / short - 1, "", _FILE_GROWTH),
            Figure(f"{label}: CPU time of the end", max(found[f"stop s {sources}"]), "s", _STOP_S),
        ]
    return figures


def run() -> list[Figure]:
    """Medians over rounds of base, mode, base. CPU time: other programs may run."""
    if importlib.util.find_spec("torch") is None:
        return [_launch(), Figure("record", None, "times", note="torch is not installed")]
    figures = [figure for model in ("mlp", "tfm") for figure in _overheads(model)]
    native = _measured("natives", "tfm")
    return [
        *figures,
        *(
            Figure(f"record tfm: time ratio, native {mode}", median(native[mode]), "times", most,
                   note=f"least {min(native[mode]):.3f}")
            for mode, most in _NATIVE_RATIOS.items()
        ),
        _launch(),
        _large(),
        *_memory(),
        *_files(),
    ]  # fmt: skip
