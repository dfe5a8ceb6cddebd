"""CPU samples: where a thread was at the instants of sampling."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from ...native import PathTree
from ..account import count
from ..arrays import I32, I64
from ..model import Layer
from .chains import Chains, read_chains
from .identity import Identity
from .reader import TableReader
from .strings import Strings
from .times import Clock

TABLE: Final = "COMPOSITE_EVENTS"
REQUIRED: Final = ("id", "start", "globalTid")
CHAIN_TABLE: Final = "SAMPLING_CALLCHAINS"

_MOST_CYCLES: Final = 2**40
"""Minutes between two samples: what is above is no count, and might overflow a sum."""

_NO_BACKTRACE: Final = "<no backtrace>"


@dataclass(slots=True)
class Samples:
    """One row per sample. `weight` is CPU cycles, or 1. `cpu` NULL32 where not recorded."""

    lane: I32
    time: I64
    weight: I64
    cpu: I32
    event: I64

    def __len__(self) -> int:
        return len(self.lane)


def read_samples(reader: TableReader, identity: Identity, clock: Clock) -> Samples | None:
    """The samples of all threads."""
    table = reader.find(TABLE, REQUIRED)
    if table is None:
        return None
    rows = reader.read(
        table,
        {"id": "i64", "start": "i64", "globalTid": "i64", "cpu": "i32", "cpuCycles": "i64"},
    )
    time = clock.points(rows)
    weight = rows.i64("cpuCycles")
    return Samples(
        identity.thread_column(rows.i64("globalTid")),
        time,
        np.where((weight < 0) | (weight > _MOST_CYCLES), 1, weight),
        rows.i32("cpu"),
        rows.i64("id"),
    )


def sample_nodes(
    samples: Samples, base: I32, reader: TableReader, strings: Strings, tree: PathTree
) -> I32:
    """Node of each sample: the frames of its chain below `base`, the context then open."""
    chains = read_chains(reader, CHAIN_TABLE, strings, tree)
    nothing = tree.frame(Layer.NATIVE, strings.pool.intern(_NO_BACKTRACE))
    if chains is None:
        return tree.extend(base, np.full(len(samples), nothing, np.int32))
    chain = chains.index_of(samples.event)
    chain = np.where(_is_empty(chains)[chain], np.int32(-1), chain)
    reader.account.leave_out(chains.table, "no_sample", _unused_frames(chains, chain))
    bare = chain < 0
    nodes = tree.extend_chains(base, chain, chains.offsets, chains.frames)
    if bare.any():
        nodes = nodes.copy()
        nodes[bare] = tree.extend(base[bare], np.full(count(bare), nothing, np.int32))
    return nodes


def _is_empty(chains: Chains) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """True for chains without frames; the last entry stands for chain -1."""
    return np.append(np.diff(chains.offsets) == 0, True)


def _unused_frames(chains: Chains, chain: I32) -> int:
    used = np.zeros(len(chains.ids), np.bool_)
    used[chain[chain >= 0]] = True
    return int(np.diff(chains.offsets)[~used].sum())
