"""Call chains: which frames a CUDA call or a CPU sample was reached through."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

import numpy as np

from ...native import PathTree, intern_rows, sort_order
from ..account import count
from ..api_names import base_name
from ..arrays import I32, I64, NULL32, Mask
from ..model import Layer
from .calls import Calls
from .reader import Rows, TableReader
from .strings import Strings

REQUIRED: Final = ("id", "symbol", "stackDepth")

_SENTINELS: Final = ("[Max depth]", "[Broken backtraces]")
_BELOW_API = re.compile(r"libcupti|libToolsInjection|libcuda\.so|libcudart")
_PROBED_CALLS: Final = 1000
_MIN_PROBED: Final = 5
_MIN_MATCH: Final = 0.9


@dataclass(slots=True)
class Chains:
    """Chains root to leaf: chain i is frames[offsets[i] : offsets[i + 1]], and has id ids[i]."""

    table: str
    ids: I64
    offsets: I64
    frames: I32
    """Frames of the tree; -1 marks a place where the chain was cut."""
    symbols: I32
    """Number of the symbol's text without API version, see `symbol_names`."""
    below_api: Mask
    """Frames of the profiler and of the CUDA libraries."""
    symbol_names: dict[str, int]

    def index_of(self, ids: I64) -> I32:
        """Chain of each chain id, -1 where there is none."""
        at = np.searchsorted(self.ids, ids)
        at[at == len(self.ids)] = 0
        return np.where(self.ids[at] == ids, at, -1).astype(np.int32)

    def filter(self, keep: Mask) -> None:
        """Drop the frames where `keep` is false; chains may become empty."""
        kept_before = np.concatenate(([0], np.cumsum(keep)))
        self.offsets = kept_before[self.offsets].astype(np.int64)
        self.frames = self.frames[keep]
        self.symbols = self.symbols[keep]
        self.below_api = self.below_api[keep]


def read_chains(reader: TableReader, table: str, strings: Strings, tree: PathTree) -> Chains | None:
    """The chains of a `…_CALLCHAINS` table, with their frames entered in `tree`."""
    found = reader.find(table, REQUIRED)
    if found is None:
        return None
    rows = reader.read(
        found,
        {
            "id": "i64",
            "stackDepth": "i32",
            "symbol": "i32",
            "module": "i32",
            "unresolved": "i32",
            "originalIP": "i64",
        },
    )
    if rows.count == 0:
        return None
    ids = rows.i64("id")
    order = sort_order([ids, -rows.i32("stackDepth")])
    labels = _Labels(strings, tree)
    frames, symbols, below = labels.columns(rows)
    ids = ids[order]
    starts = np.flatnonzero(np.concatenate(([True], ids[1:] != ids[:-1])))
    chains = Chains(
        table=found,
        ids=ids[starts],
        offsets=np.append(starts, len(ids)).astype(np.int64),
        frames=frames[order],
        symbols=symbols[order],
        below_api=below[order],
        symbol_names=labels.symbol_names,
    )
    cut = chains.frames < 0
    reader.account.leave_out(found, "truncated", count(cut))
    if cut.any():
        chains.filter(~cut)
    return chains


class _Labels:
    """What to call the frames of a chain table."""

    def __init__(self, strings: Strings, tree: PathTree) -> None:
        self.symbol_names: dict[str, int] = {}
        self._strings = strings
        self._tree = tree

    def columns(self, rows: Rows) -> tuple[I32, I32, Mask]:
        """Frame, symbol number and below-the-API mark of each row."""
        symbol, module = rows.i32("symbol"), rows.i32("module")
        address = rows.i64("originalIP")
        unresolved = rows.i32("unresolved") > 0
        address = np.where(unresolved, address, 0)
        dense, first = intern_rows([symbol, module, unresolved.astype(np.uint8), address])
        frames: list[int] = []
        symbols: list[int] = []
        below: list[bool] = []
        for row in first.tolist():
            path = self._strings.text(_id(module[row]))
            file = PurePosixPath(path).name if path else ""
            text = self._strings.text(_id(symbol[row])) or f"<string {symbol[row]}>"
            frames.append(self._frame(text, file, bool(unresolved[row])))
            symbols.append(self.symbol_names.setdefault(base_name(text), len(self.symbol_names)))
            below.append(_BELOW_API.match(file) is not None)
        return (
            np.array(frames, np.int32)[dense],
            np.array(symbols, np.int32)[dense],
            np.array(below, np.bool_)[dense],
        )

    def _frame(self, text: str, file: str, unresolved: bool) -> int:
        if text in _SENTINELS:
            return -1
        pool = self._strings.pool
        name = f"{file}+{text}" if unresolved and file else text
        return self._tree.frame(Layer.NATIVE, pool.intern(name), pool.intern(file) if file else -1)


def _id(value: object) -> int | None:
    number = int(value)  # type: ignore[call-overload]
    return None if number == NULL32 else number


def attach_to_calls(
    chains: Chains,
    calls: Calls,
    strings: Strings,
    reader: TableReader,
    note: Callable[[str], None],
) -> I32 | None:
    """Chain of each call, -1 where none; None when the chains fit no call.

    Exporters number chains from 0 or from 1: the numbering is told by the calls whose own name
    occurs in their chain."""
    if calls.chain is None:
        return None
    offset = _numbering(chains, calls.chain, calls, strings)
    if offset is None:
        note("CUDA call chains do not fit the calls they are recorded for: they are not shown.")
        reader.account.leave_out(chains.table, "not_attached", len(chains.frames))
        return None
    if offset:
        note(f"CUDA call chains are numbered {offset:+d} from the calls they belong to.")
    chain = _chain_index(chains, calls.chain, offset)
    used = np.unique(chain[chain >= 0])
    api = np.full(len(chains.ids), -1, np.int32)
    rows = np.flatnonzero(chain >= 0)[::-1]
    api[chain[rows]] = _symbol_of_calls(chains, calls, strings)[rows]
    keep = _above_api(chains, api)
    in_use = np.zeros(len(chains.ids), np.bool_)
    in_use[used] = True
    frame_in_use = np.repeat(in_use, np.diff(chains.offsets))
    reader.account.leave_out(chains.table, "not_attached", count(~frame_in_use))
    reader.account.leave_out(chains.table, "below_api", count(frame_in_use & ~keep))
    chains.filter(keep & frame_in_use)
    return chain


def _chain_index(chains: Chains, recorded: I32, offset: int) -> I32:
    absent = recorded == NULL32
    if offset != 1:
        absent |= recorded == 0
    index = chains.index_of(recorded.astype(np.int64) + offset)
    index[absent] = -1
    return index


def _symbol_of_calls(chains: Chains, calls: Calls, strings: Strings) -> I32:
    names = {
        base: chains.symbol_names.get(strings.pool[base], -1)
        for base in np.unique(calls.base).tolist()
    }
    table = np.full(len(strings.pool), -1, np.int32)
    for base, symbol in names.items():
        table[base] = symbol
    return table[calls.base]


def _numbering(chains: Chains, recorded: I32, calls: Calls, strings: Strings) -> int | None:
    """What to add to recorded ids: the best of 0, +1 and -1 where nearly all calls fit. Of equal
    ones, that which gives more calls a chain."""
    rows = np.flatnonzero(recorded != NULL32)[:_PROBED_CALLS]
    symbols = _symbol_of_calls(chains, calls, strings)[rows]
    best: tuple[float, int, int] | None = None
    for offset in (0, 1, -1):
        meant = np.ones(len(rows), np.bool_) if offset == 1 else recorded[rows] != 0
        if count(meant) < _MIN_PROBED:
            continue
        index = _chain_index(chains, recorded[rows[meant]], offset).tolist()
        hits = sum(
            chain >= 0
            and symbol in chains.symbols[chains.offsets[chain] : chains.offsets[chain + 1]]
            for chain, symbol in zip(index, symbols[meant].tolist(), strict=True)
        )
        match = hits / len(index)
        if match >= _MIN_MATCH and (best is None or (match, hits) > best[:2]):
            best = (match, hits, offset)
    return None if best is None else best[2]


def _above_api(chains: Chains, api: I32) -> Mask:
    """True for the frames above the API: leaf frames of the CUDA libraries and of the call itself
    are what the call's own row stands for."""
    sizes = np.diff(chains.offsets)
    chain = np.repeat(np.arange(len(sizes)), sizes)
    position = np.arange(len(chain))
    covered = chains.below_api | (chains.symbols == api[chain])
    last = np.full(len(sizes), -1, np.int64)
    np.maximum.at(last, chain[~covered], position[~covered])
    return position <= last[chain]
