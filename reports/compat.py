"""The public TensorRT-LLM scripts' own figures, in their own form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..analyzers.verdict import COUNTED
from . import format as fmt
from .json_text import json_text
from .text_table import paragraph, table

if TYPE_CHECKING:
    from ..analyzers.compat_trtllm import ScriptResult
    from ..analyzers.verdict import Judgement, Metrics

_METRICS = (*COUNTED, "nccl_ratio")
_WARNING = (
    "These are the public TensorRT-LLM scripts' own formulas, right or wrong (all GPUs as one, "
    "graph replays and copies not counted): to compare with their output, not to judge by."
)


def compat_json(result: ScriptResult) -> str:
    """The scripts' document, indented, with a final newline."""
    whole = result.overall.aggregate
    document: dict[str, Any] = {
        "verdict": result.overall.answer.value,
        "aggregate_metrics": _metrics(result.aggregate),
        **_counts(whole),
        "nccl_caveat": whole.nccl_caveat,
        "crossed_details": dict(whole.crossed),
        "phases": {
            name: {
                "iteration_count": phase.iteration_count,
                "verdict": result.overall.phases[name].answer.value,
                **_counts(result.overall.phases[name]),
                "metrics": _metrics(phase.metrics),
            }
            for name, phase in result.phases.items()
        },
    }
    return json_text(document, indent=2) + "\n"


def compat_text(result: ScriptResult, *, width: int = 80) -> str:
    """The same as a table."""
    whole = result.overall
    columns = [("aggregate", result.aggregate, whole.aggregate)]
    columns += [(name, p.metrics, whole.phases[name]) for name, p in result.phases.items()]
    rows = [
        (
            name,
            *(
                fmt.share(metrics.value(name)) + (" *" if judged.crossed.get(name) else "  ")
                for _, metrics, judged in columns
            ),
        )
        for name in _METRICS
    ]
    rows.append(
        (
            "verdict",
            *(
                f"{judged.answer.value} {judged.crossed_count}/{judged.applicable_count}"
                for _, _, judged in columns
            ),
        )
    )
    lines = paragraph(f"Host overhead: {whole.answer.value} (trtllm-scripts)", width)
    lines += table(("* = crossed", *(name for name, _, _ in columns)), rows, width, indent="")
    return "\n".join([*lines, *paragraph(_WARNING, width)]) + "\n"


def _counts(judged: Judgement) -> dict[str, Any]:
    return {
        "crossed_count": judged.crossed_count,
        "applicable_count": judged.applicable_count,
        "host_prep_confirmed": judged.host_prep_confirmed,
    }


def _metrics(metrics: Metrics) -> dict[str, float | None]:
    values = {name: metrics.value(name) for name in _METRICS}
    return {name: None if value is None else round(value, 4) for name, value in values.items()}
