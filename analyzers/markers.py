"""Which ranges of a trace are iterations of the workload, told by the texts that the serving and
training frameworks write, and what the texts say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ..queries.ranges import RangeText


class Method(StrEnum):
    """How iterations were found."""

    USER = "user pattern"
    RECORDED = "the recording"
    TRTLLM = "TensorRT-LLM"
    VLLM = "vLLM"
    SGLANG = "SGLang"
    PROFILER = "PyTorch profiler"
    MEGATRON = "Megatron"
    GENERIC = "generic"
    GRAPH_CADENCE = "graph replay cadence"
    ALL_REDUCE = "all-reduce pattern"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class StepText:
    """What the text of a step says; -1 where it does not."""

    number: int = -1
    context: int = -1
    generation: int = -1


@dataclass(frozen=True, slots=True)
class Preset:
    """How a framework marks its steps and the host work that prepares them.

    `forms` are tried in order, the first that occurs is used: a framework that marks the same
    step twice is counted once. `prep`: groups of texts, again the first that occurs.
    """

    method: Method
    forms: tuple[re.Pattern[str], ...]
    prep: tuple[tuple[str, ...], ...] = ()
    prep_pattern: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class Marked:
    """The step texts of a preset, by string id."""

    method: Method
    texts: Mapping[int, StepText]
    pattern: str


PRESETS = (
    Preset(
        Method.TRTLLM,
        (
            re.compile(
                r"^\[Executor\] _forward_step(?: (?P<step>\d+))?: "
                r"(?P<ctx>\d+) ctx reqs, (?:\d+ ctx tokens, )?(?P<gen>\d+) gen reqs"
            ),
            re.compile(r"^\[Executor\] _forward_step(?: (?P<step>\d+))?\b"),
        ),
        prep=(("_prepare_tp_inputs",), ("_prepare_inputs",), ("prepare_inputs",)),
    ),
    Preset(
        Method.VLLM,
        (
            re.compile(
                r"^execute_(?:(?P<step>\d+)_)?context_(?P<ctx>\d+)\([^)]*\)"
                r"_generation_(?P<gen>\d+)\([^)]*\)"
            ),
            re.compile(
                r"^vllm_iteration\((?P<step>\d+)\):?"
                r"(?:.*?(?P<ctx>\d+) context requests?)?(?:.*?(?P<gen>\d+) generation requests?)?"
            ),
            re.compile(r"^(?:v2_)?gpu_model_runner: forward$"),
        ),
        prep=(
            ("gpu_model_runner: preprocess",),
            (
                "v2_gpu_model_runner: prepare_inputs",
                "v2_gpu_model_runner: state_update",
                "v2_gpu_model_runner: prepare_attn",
            ),
        ),
    ),
    Preset(
        Method.SGLANG,
        (
            re.compile(r"^step\[(?P<mode>DECODE|EXTEND|MIXED) bs=(?P<bs>\d+)"),
            re.compile(r"^scheduler\.run_batch$"),
        ),
        prep=(
            ("scheduler.get_next_batch_to_run",),
            ("cuda_graph_runner.replay_prepare",),
            ("tp_worker.batch_init_new",),
        ),
    ),
    Preset(
        Method.PROFILER,
        (re.compile(r"^ProfilerStep#(?P<step>\d+)$"),),
        prep_pattern=re.compile(r"^enumerate\(DataLoader\)#"),
    ),
    Preset(
        Method.MEGATRON,
        (re.compile(r"(?:^|[./:])train_step$"),),
        prep_pattern=re.compile(r"(?:^|[./:])get_batch$|data[ _]iterator"),
    ),
)

GENERIC = re.compile(
    r"(?:^|[^A-Za-z])(?:iteration|iter|step|batch)[ _#:=.\-\[(]*(?P<step>\d+)", re.IGNORECASE
)
"""Iteration, iter, step or batch followed by a number."""

LIKELY = (
    r"(?i)_forward_step|execute_.*context_|vllm_iteration|gpu_model_runner|step\[|scheduler\."
    r"|profilerstep|train_step|prepare_.*inputs|prepare_inputs|replay_prepare|batch_init_new"
    r"|dataloader|get_batch|data.iterator|(?:iteration|iter|step|batch)[ _#:=.\-\[(]*[0-9]"
)
"""Found in every text that a preset or the generic rule can match: a first sieve in the database,
since PyTorch alone writes a text of its own for every operator call."""

_LIBRARIES = re.compile(
    r"^(?:CUB|CCCL|NCCL|TensorRT|cuDNN|cuBLAS\w*|cuFFT|cuSPARSE|cuSOLVER|cuSolver|NVSHMEM|Thrust|"
    r"cuTENSOR|cuStateVec|libcu\+\+|RAPIDS|libcudf|RMM|DALI|NVTX|UCX|NPP|cuVS|RAFT|MPI)\b",
    re.IGNORECASE,
)


def is_library(domain: str) -> bool:
    """True for the NVTX domain of a library, whose ranges are never the program's iterations."""
    return _LIBRARIES.match(domain) is not None


def read_number(text: str | None) -> int:
    """A number in the text of a step; -1 where it tells none."""
    # No counter of steps or requests has ten digits: what has is no number of a step.
    return int(text) if text and len(text) < 10 and text.isascii() and text.isdigit() else -1


def _number(found: re.Match[str], group: str) -> int:
    return read_number(found.groupdict().get(group))


def _read(found: re.Match[str]) -> StepText:
    groups = found.groupdict()
    if "mode" in groups:
        requests = _number(found, "bs")
        if groups["mode"] == "DECODE":
            return StepText(context=0, generation=requests)
        return StepText(context=requests, generation=0 if groups["mode"] == "EXTEND" else -1)
    return StepText(_number(found, "step"), _number(found, "ctx"), _number(found, "gen"))


def matching(texts: Iterable[RangeText], pattern: re.Pattern[str]) -> dict[int, StepText]:
    """What the texts say in which the pattern is found, by string id. Groups step, ctx and gen are
    read; a group that is no number says nothing."""
    said: dict[int, StepText] = {}
    for item in texts:
        found = pattern.search(item.text)
        if found is not None:
            said[item.name] = _read(found)
    return said


def of_preset(preset: Preset, texts: Sequence[RangeText]) -> Marked | None:
    """The steps of a framework; None where it marked none."""
    for form in preset.forms:
        said = matching(texts, form)
        if said:
            return Marked(preset.method, said, form.pattern)
    return None


def prep_texts(method: Method, texts: Sequence[RangeText]) -> dict[int, str]:
    """Texts of the ranges that prepare the inputs of a step, by string id; empty where none occur.

    Where steps are of no known framework, the texts of all are tried in order.
    """
    own = [preset for preset in PRESETS if preset.method is method]
    for preset in own or PRESETS:
        for group in preset.prep:
            found = {item.name: item.text for item in texts if item.text in group}
            if found:
                return found
        if preset.prep_pattern is not None:
            found = {i.name: i.text for i in texts if preset.prep_pattern.search(i.text)}
            if found:
                return found
    return {}
