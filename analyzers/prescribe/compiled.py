"""torch.compile: compilation inside the window, recompilation and graph breaks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..distinct import distinct
from ..findings import Finding
from ..quantities import plural, share
from .facts import Facts
from .host_rows import compiling
from .wording import gained

_REGION: Final = re.compile(r"Torch-Compiled Region: (\d+)/(\d+)")
_RESUME: Final = re.compile(r"torch_dynamo_resume_in_")
_LOOKUP: Final = re.compile(r"TorchDynamo Cache Lookup|TorchDynamo.*Guard|Pregraph bytecode")


@dataclass(frozen=True, slots=True)
class Limits:
    share: float
    """Of the devices' time idle while compiling or looking up, at least; without GPU work, of the
    host time that this takes."""


@dataclass(frozen=True, slots=True)
class Result:
    rows: list[int]
    waste_ns: list[int]
    """Idle time meanwhile, by row; without GPU work its host time."""
    total_ns: int
    """Of all together, counted once."""
    recompiled: int
    """Versions of regions beyond the first."""
    breaks: int
    """Functions that go on after a graph break."""
    compiles: bool


def analyze(facts: Facts, limits: Limits) -> Result:
    breaks = facts.is_code & facts.named(_RESUME)
    compiles = compiling(facts)
    costly = compiles | (facts.is_code & facts.named(_LOOKUP))
    outermost = costly & (facts.outermost(costly) == np.arange(len(costly)))
    rows = np.flatnonzero(outermost).astype(np.int32)
    waste, total = np.zeros(0, np.int64), 0
    if len(rows) and not facts.on_gpu:
        waste = facts.cost[rows]
        total = int(waste.sum())
    elif len(rows):
        events = facts.events_of(outermost)
        group = np.searchsorted(rows, facts.host_row[events]).astype(np.int32)
        waste = facts.idle_within(events, group, len(rows))
        total = int(facts.idle_within(events, np.zeros(len(events), np.int32), 1)[0])
    if total < limits.share * facts.window_ns:
        rows, total = rows[:0], 0
    kept = np.argsort(-waste[: len(rows)], kind="stable")
    return Result(
        rows[kept].tolist() or np.flatnonzero(breaks).tolist(),
        waste[kept].tolist(),
        total,
        _recompiled(facts),
        len({facts.name(row) for row in np.flatnonzero(breaks).tolist()}),
        bool(total and compiles.any()),
    )


def _recompiled(facts: Facts) -> int:
    """Regions are told apart by their recorded names: contexts write numbers as #."""
    if not facts.named(re.compile("Torch-Compiled Region")).any():
        return 0
    texts = facts.report.texts
    ids = distinct(facts.report.host.name).tolist()
    versions = {m.groups() for i in ids if (m := _REGION.match(texts.get(i, "")))}
    return sum(int(version) > 0 for _, version in versions)


def findings(result: Result, facts: Facts) -> list[Finding]:
    if not (result.total_ns or result.breaks or result.recompiled):
        return []
    parts: list[str] = []
    if result.compiles:
        parts.append("torch.compile compiles inside the window")
    if result.recompiled:
        parts.append(f"{plural(result.recompiled, 'region')} compiled again for other inputs")
    if result.breaks:
        parts.append(f"{plural(result.breaks, 'graph break')} part the compiled code")
    text = ", ".join(parts) or "compiled regions check their guards for long"
    gain, why, unit = None, "the GPU hardly idles while code is compiled or looked up", "ms idle"
    part = share(result.total_ns / facts.window_ns) if result.total_ns else ""
    if not facts.on_gpu:
        why, unit = "compiling and looking up take hardly any time", "ms"
    if result.total_ns and facts.on_gpu:
        gain, why = facts.gain(result.total_ns, "idle time while compiling and looking up"), ""
        text += f"; the GPU idles {part} of the time meanwhile"
    elif result.total_ns:
        gain, why = facts.gain(result.total_ns, "all time of compiling and looking up"), ""
        text += f"; that takes {part} of the {facts.cost_name}"
    values = result.waste_ns if result.total_ns else [0] * len(result.rows)
    return [
        gained(
            "torch-compile",
            f"{text[0].upper()}{text[1:]}.",
            "Warm up before the window; mark changing sizes with torch._dynamo.mark_dynamic or "
            "dynamic=True; find the breaks with TORCH_LOGS=graph_breaks,recompiles and move "
            "prints, .item() and unsupported calls out.",
            "TORCH_LOGS=graph_breaks,recompiles is silent after the warm-up.",
            facts.evidence(result.rows, [ns / 1e6 for ns in values], unit),
            gain, why,
        )
    ]  # fmt: skip
