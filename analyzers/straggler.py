"""Which rank the others wait for: who comes last to the collectives of the steady steps.

Starts of kernels are compared across devices, so they must be of one clock: one trace of one host.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..ingest.model import Layer
from .findings import Evidence, Finding, Weight
from .quantities import us

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .step_profile import StepProfile
    from .step_table import I64

LAST_SHARE = 0.80
LATE_NS = 20_000


@dataclass(frozen=True, slots=True)
class Straggler:
    """The device that comes last most often."""

    device: int
    label: str
    """Its name."""
    last_share: float
    """Of the collectives."""
    late_ns: float
    """Median time by which it starts after the last of the others, where it is the last one."""
    collectives: int

    @property
    def matters(self) -> bool:
        """One device is last nearly always, and by more than the clocks may differ."""
        return self.last_share > LAST_SHARE and self.late_ns > LATE_NS


def straggler(
    device: I64, iteration: I64, key: I64, start_ns: I64, labels: Mapping[int, str]
) -> Straggler | None:
    """Of collectives: their device, iteration of the workload, number of the kernel's name, start.
    `labels`: of the devices.

    The i-th kernel of a name in an iteration on one device meets the i-th on every other. Where
    devices have different numbers of it, that name is left out of that iteration. None with fewer
    than two devices, or where nothing matches.
    """
    devices, place = np.unique(device, return_inverse=True)
    if len(devices) < 2:
        return None
    order = np.lexsort((start_ns, place, key, iteration))
    place, start_ns = place[order], start_ns[order]
    meeting = np.stack((iteration[order], key[order]), axis=1)
    fresh = np.concatenate(([True], (meeting[1:] != meeting[:-1]).any(1)))
    group = np.cumsum(fresh) - 1
    counts = np.bincount(group * len(devices) + place, minlength=(group[-1] + 1) * len(devices))
    counts = counts.reshape(-1, len(devices))
    matched = (counts == counts[:, :1]).all(1)
    chosen = matched[group]
    if not chosen.any():
        return None
    # Within a group the starts lie device by device, each in order of time.
    sizes = counts[matched, 0]
    firsts = np.cumsum(sizes * len(devices)) - sizes * len(devices)
    instance = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    at = np.repeat(firsts, sizes) + instance
    starts = np.stack(
        [start_ns[chosen][at + d * np.repeat(sizes, sizes)] for d in range(len(devices))], axis=1
    )
    last = starts.argmax(1)
    arrivals = np.sort(starts, axis=1)
    late = arrivals[:, -1] - arrivals[:, -2]
    times_last = np.bincount(last, minlength=len(devices))
    slowest = int(times_last.argmax())
    return Straggler(
        device=int(devices[slowest]),
        label=labels[int(devices[slowest])],
        last_share=float(times_last[slowest] / len(last)),
        late_ns=float(np.median(late[last == slowest])),
        collectives=len(last),
    )


def straggler_finding(profile: StepProfile) -> Finding | None:
    """With what the late rank's host does more of than the others."""
    found = profile.straggler
    if found is None or not found.matters:
        return None
    rank = next((i for i, r in enumerate(profile.steps.ranks) if found.device in r.devices), None)
    return Finding(
        id="straggler",
        weight=Weight.WARNING,
        sentence=f"{found.label} comes last to {100 * found.last_share:.0f} % of the "
        f"{found.collectives:,} collectives of the steady steps, by {us(found.late_ns)} in the "
        "median: the others wait for it.",
        remedy="Look at what its host does more of. Waiting least, it never builds a queue of "
        "launches, so a small delay keeps itself up.",
        evidence=() if rank is None else _extra(profile, rank),
    )


def _extra(profile: StepProfile, rank: int, limit: int = 3) -> tuple[Evidence, ...]:
    """Operations that take this rank longer per step than the mean of the others."""
    table = profile.host
    if table is None or len(table.steps) < 2 or not table.steps.all():
        return ()
    means = table.total_ns / table.steps
    others = np.delete(means, rank, axis=1).mean(1)
    more = means[:, rank] - others
    more[table.is_step | (table.layer == Layer.API)] = 0
    rows: list[int] = np.argsort(-more, kind="stable")[:limit].tolist()
    return tuple(
        Evidence(
            what=f"{table.names[row]}, against {us(float(others[row]))} on the other ranks",
            unit="µs/step",
            value=float(means[row, rank]) / 1000,
            name=table.names[row],
            node=int(table.node[row]),
        )
        for row in rows
        if more[row] > 0
    )
