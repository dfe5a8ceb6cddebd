"""The communication kernels of a trace: what each moves, between whom, and on which rank it ran."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..native import intern_rows
from ..queries.collectives import collective_arguments, communication, kernel_names
from ..queries.lanes import processes
from ..queries.report_events import stream_ids
from ..queries.step_events import texts as texts_of
from .collective_names import inferred_name, kind_of, numbers
from .distinct import distinct
from .overrun import clipped_ends
from .perf_models.dtypes import element_bytes
from .perf_models.perf import NotKnownError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..queries.collectives import CommWork
    from ..queries.trace import Trace
    from .report_rules import Rules

    I32 = NDArray[np.int32]
    I64 = NDArray[np.int64]
    F64 = NDArray[np.float64]
    Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Member:
    """Who takes part in collectives: a process on one GPU."""

    process: int
    device: int
    rank: int | None
    """None where it is not known."""
    label: str


@dataclass(frozen=True, slots=True)
class Group:
    """A process group. None: not recorded."""

    name: str | None
    ranks: tuple[int, ...] | None
    """Ascending."""
    size: int | None
    ranks_text: str | None
    """As recorded, where it is cut short."""


@dataclass(frozen=True, slots=True, eq=False)
class Collectives:
    """Communication kernels by start. Columns of one length; -1 or NaN: not known."""

    work: CommWork
    member: I32
    """Index into `members`."""
    group: I32
    """Index into `groups`; -1 without arguments."""
    name: I32
    """Index into `names`."""
    inferred: Mask
    """The name of the kernel told the collective's name."""
    dtype: I32
    """`string.id`, as the next two."""
    in_split: I32
    out_split: I32
    in_elements: I64
    out_elements: I64
    element_bytes: F64
    sequence: I64
    peer_source: I32
    peer_target: I32
    members: list[Member]
    groups: list[Group]
    names: list[str]
    texts: dict[int, str]
    streams: dict[int, int]
    """Number of the stream by lane."""
    unknown_types: frozenset[str]
    """Types of elements whose size is not known."""
    notes: list[str]

    def __len__(self) -> int:
        return len(self.work.id)

    @property
    def dur_ns(self) -> I64:
        return self.work.end_ns - self.work.start_ns

    def name_at(self, event: int) -> str | None:
        found = int(self.name[event])
        return None if found < 0 else self.names[found]

    def kind_at(self, event: int) -> str | None:
        """One of the kinds of `collective_names`."""
        return kind_of(self.name_at(event))

    def text(self, string: int) -> str | None:
        return None if string < 0 else self.texts[string]

    def in_bytes(self) -> F64:
        """Size of the message that goes in; NaN where it is not known."""
        return _sized(self.in_elements, self.element_bytes)

    def out_bytes(self) -> F64:
        return _sized(self.out_elements, self.element_bytes)


def collectives(trace: Trace, rules: Rules, only: NDArray[np.integer] | None = None) -> Collectives:
    """All communication kernels that the rules count; `only`: of these events. Reads events."""
    more: list[int] = []
    if rules.extension is not None and rules.extension.communication:
        own = rules.own_collective
        more = [name for name, text in kernel_names(trace) if own(text) is not None]
    work = communication(trace, more)
    if rules.clip_overrun:
        work = replace(work, end_ns=clipped_ends(trace, work.id, work.end_ns))
    arguments = collective_arguments(trace)
    texts = texts_of(trace, map(int, distinct(work.name)))
    told = {i: rules.is_communication(text) for i, text in texts.items()}
    kept = np.array([told[int(i)] for i in work.name], bool) if len(work.id) else work.linked
    if rules.linked_only:
        kept = kept & work.linked
    if only is not None:
        kept = kept & np.isin(work.id, only)
    work = type(work)(**{name: getattr(work, name)[kept] for name in work.__slots__})
    at = work.collective

    def column(name: str) -> NDArray[np.int64]:
        values = getattr(arguments, name)
        return np.append(values, values.dtype.type(-1))[at]

    used = [column(n) for n in ("name", "dtype", "in_split", "out_split", "group_name",
                                "group_ranks")]  # fmt: skip
    texts |= texts_of(trace, (int(i) for i in distinct(np.concatenate(used)) if i >= 0))
    name, names, inferred = _names(column("name"), work.name, texts, rules)
    group, groups = _groups(at, column("group_name"), column("group_ranks"), column("group_size"),
                            texts)  # fmt: skip
    member, members, notes = _members(trace, work)
    sizes, unknown = _element_bytes(column("dtype"), texts)
    return Collectives(
        work=work,
        member=member,
        group=group,
        name=name,
        inferred=inferred,
        dtype=column("dtype").astype(np.int32),
        in_split=column("in_split").astype(np.int32),
        out_split=column("out_split").astype(np.int32),
        in_elements=column("in_elements"),
        out_elements=column("out_elements"),
        element_bytes=sizes,
        sequence=column("sequence"),
        peer_source=column("peer_source").astype(np.int32),
        peer_target=column("peer_target").astype(np.int32),
        members=members,
        groups=groups,
        names=names,
        texts=texts,
        streams=stream_ids(trace),
        unknown_types=unknown,
        notes=notes,
    )


def recorded_names(found: Collectives) -> Collectives:
    """The same, with no name but those that the trace tells."""
    return replace(found, name=np.where(found.inferred, np.int32(-1), found.name))


def unknown_types(trace: Trace) -> frozenset[str]:
    """Types of elements of collectives whose size is not known."""
    dtype = distinct(collective_arguments(trace).dtype).astype(np.int64)
    texts = texts_of(trace, (int(i) for i in dtype if i >= 0))
    return _element_bytes(dtype, texts)[1]


def _sized(elements: I64, of_element: F64) -> F64:
    return np.where(elements < 0, np.nan, elements) * of_element


def _names(
    recorded: I64, kernel: I32, texts: dict[int, str], rules: Rules
) -> tuple[I32, list[str], Mask]:
    """Recorded names, else what the names of the kernels tell."""
    ids, first = intern_rows([recorded, kernel])
    found: list[str | None] = [
        texts[r] if r >= 0 else rules.own_collective(texts[k]) or inferred_name(texts[k])
        for r, k in zip(recorded[first].tolist(), kernel[first].tolist(), strict=True)
    ]
    names = list(dict.fromkeys(name for name in found if name is not None))
    number = {name: i for i, name in enumerate(names)}
    place = np.array([-1 if n is None else number[n] for n in found], np.int32)
    return place[ids], names, recorded < 0


def _groups(
    at: I32, name: I64, ranks: I64, size: I64, texts: dict[int, str]
) -> tuple[I32, list[Group]]:
    """The same name and the same ranks are one group, in whatever order they were written."""
    ids, first = intern_rows([name, ranks, size, (at >= 0).astype(np.int32)])
    groups: dict[Group, int] = {}
    place = np.full(len(first), -1, np.int32)
    for i, row in enumerate(first.tolist()):
        if at[row] < 0:
            continue
        text = texts[int(ranks[row])] if ranks[row] >= 0 else None
        listed = numbers(text)
        known = tuple(sorted(listed)) if listed else None
        of_size = int(size[row]) if size[row] >= 0 else None
        found = Group(
            texts[int(name[row])] if name[row] >= 0 else None,
            known,
            len(known) if of_size is None and known else of_size,
            None if known else text or None,
        )
        place[i] = groups.setdefault(found, len(groups))
    return place[ids], list(groups)


def _members(trace: Trace, work: CommWork) -> tuple[I32, list[Member], list[str]]:
    """Processes on their GPUs, by rank. A rank is that of the process; where processes work on
    several GPUs, or have no rank, it is not known which GPU is which."""
    known = processes(trace)
    ids, first = intern_rows([work.process, work.device])
    pairs = [(int(work.process[i]), int(work.device[i])) for i in first]
    on = Counter(process for process, _ in pairs)
    members: list[Member] = []
    for process, device in pairs:
        rank = known[process].rank if process in known and on[process] == 1 else None
        name = known[process].label if process in known else f"process {process}"
        members.append(Member(process, device, rank, f"{name}, GPU {device}"))
    notes: list[str] = []
    repeated = {
        r for r, n in Counter(m.rank for m in members if m.rank is not None).items() if n > 1
    }
    if repeated:
        listed = ", ".join(map(str, sorted(repeated)))
        notes.append(
            f"Several processes say that they are rank {listed}: their ranks are not used, and "
            "their collectives are not compared with those of others."
        )
        members = [
            Member(m.process, m.device, None if m.rank in repeated else m.rank, m.label)
            for m in members
        ]
    elif members and all(m.rank is None for m in members) and len(members) > 1:
        notes.append("The trace tells no ranks: GPUs are numbered in their order.")
        order = sorted(members, key=lambda m: (m.device, m.process))
        members = [Member(m.process, m.device, order.index(m), m.label) for m in members]
    order = sorted(members, key=lambda m: (m.rank is None, m.rank or 0, m.process, m.device))
    place = np.array([order.index(m) for m in members], np.int32)
    return place[ids] if len(members) else ids, order, notes


def _element_bytes(dtype: I64, texts: dict[int, str]) -> tuple[F64, frozenset[str]]:
    unknown: set[str] = set()
    size: dict[int, float] = {-1: np.nan}
    for i in distinct(dtype).tolist():
        if i < 0:
            continue
        try:
            size[i] = element_bytes(texts[i])
        except NotKnownError:
            size[i] = np.nan
            if texts[i]:
                unknown.add(texts[i])
    ids = distinct(dtype)
    sizes = np.array([size[int(i)] for i in ids], np.float64)
    return sizes[np.searchsorted(ids, dtype)], frozenset(unknown)
