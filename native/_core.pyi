"""Types of the native core. Arrays handed out are read-only numpy views of native memory."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, Self, final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Buffer

I8 = NDArray[np.int8]
U8 = NDArray[np.uint8]
I16 = NDArray[np.int16]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]

# ------------------------------------------------------------------ arrow --

@final
class ColumnStream:
    """A table handed to DuckDB through the Arrow C stream interface, gathered on the fly.

    `columns` maps names to numpy arrays of one length (int8 … int64, uint8 … uint32, float64,
    bool), to text columns, to a pair (values, index) of integers, which delivers
    `values[index]` and NULL where the int32 index is -1, or to a range, which counts the rows as
    they are delivered. Rows are delivered in the order `order` (row numbers; it may leave rows
    out or repeat them), in batches of 122,880; a value equal to `nulls[name]`, and NaN, is
    delivered as NULL. Each call of `__arrow_c_stream__` starts afresh. Buffers are shared, not
    copied; no Python runs while batches are pulled.
    """

    def __init__(
        self,
        columns: Mapping[
            str, NDArray[Any] | tuple[NDArray[Any], I32] | range | TextColumn | StringPool
        ],
        *,
        order: NDArray[np.uint32] | None = None,
        nulls: Mapping[str, int] | None = None,
    ) -> None: ...
    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

# ----------------------------------------------------------------- memory --

def trim_memory() -> None:
    """Give memory that was freed back to the system, where the C library would keep it."""

# --------------------------------------------------------------- recorder --

@final
class RecorderState:
    """Of the recorder of this process. Counts are those of the last snapshot."""

    running: bool
    recording: bool
    """It runs and is not paused."""
    path: str
    file_bytes: int
    """0: there is no file, as nothing was recorded."""
    snapshots: int
    compactions: int
    cpu_ns: int
    """CPU time spent on snapshots."""
    error: str
    """Of the last write that failed; empty when the last one succeeded."""
    trouble: str
    """Why the toggle signal or the control socket is not there; else empty."""
    nodes: int
    events: int
    steps: int

@final
class Recorder:
    """Writes what the monitor holds to a file, again and again, on a thread of its own. Nothing
    raises: `RecorderState.error` tells what went wrong. A forked child has no recorder."""

    @staticmethod
    def start(
        path: str,
        meta: str,
        *,
        interval_ns: int,
        durable: bool = False,
        start_ns: int = -1,
        stop_ns: int = -1,
        paused: bool = False,
        toggle_signal: int = 0,
        control: str = "",
        window: tuple[int, int, int] = (0, 0, 1),
    ) -> bool:
        """Start the thread, and the monitor unless it runs; False when the recorder runs already.
        `meta` is JSON; `durable` synchronises each snapshot with the disk. The monitor records from
        `start_ns` to `stop_ns` after this call; -1 sets no bound; if `paused`, not before a wish.
        `toggle_signal`: turns recording on and off. `control`: path of a socket that takes
        commands. `window`: steps to pass over, steps to record (0: all), one in so many."""
    @staticmethod
    def set_meta(meta: str) -> None: ...
    @staticmethod
    def attach(kind: str, content: bytes) -> None:
        """A chunk that only readers understand: written with the next snapshot. ValueError when
        `kind` is not four letters."""
    @staticmethod
    def table(
        columns: Sequence[Sequence[int] | Sequence[str] | Sequence[bytes]], *, owner: int = 0
    ) -> bytes:
        """Content of a chunk that holds a table: columns of one length. ValueError otherwise.
        `owner`: the thread that its rows belong to."""
    @staticmethod
    def record(on: bool) -> None:
        """Go on, or pause."""
    @staticmethod
    def step_ended(*, by_program: bool) -> None:
        """A step ended, as the program or an optimizer says: recording goes on or pauses, as the
        window asks."""
    @staticmethod
    def measured_event_ns() -> float:
        """What recording one event costs in this process, called from the current stack."""
    @staticmethod
    def measured_launch_ns() -> float:
        """The same of one launch of GPU work, without what the vendor's library costs."""
    @staticmethod
    def snapshot() -> bool:
        """Write what is new; True when it is in the file."""
    @staticmethod
    def stop() -> RecorderState:
        """End the recording: all that was recorded is in the file, which is as small as can be."""
    @staticmethod
    def state() -> RecorderState: ...

def module_symbols(path: str, build_id: str, addresses: list[int]) -> list[tuple[int, str]] | None:
    """The functions around addresses of a library (as its file counts them): where each begins and
    its demangled name, empty where no symbol covers it. Read from the library, or from the system's
    file with its symbols. None when neither is there with this build id (empty: any)."""

def crc32c(data: Buffer, before: int = 0) -> int:
    """CRC-32C (Castagnoli); `before` is that of the bytes before these."""

# ------------------------------------------------------------------- scan --

@final
class TraceCorrupt(Exception):  # noqa: N818
    """A damaged SQLite page. args = (message, table, page, offset, reason, rows_recovered)."""

@final
class SqliteColumn:
    name: str
    declared_type: str
    is_rowid_alias: bool

@final
class SqliteTable:
    name: str
    columns: list[SqliteColumn]
    root_page: int
    sql: str
    unreadable: str | None
    """Why the page reader cannot read it (WITHOUT ROWID, virtual, …); None when it can."""

@final
class TextColumn:
    """UTF-8 texts: int64 offsets and bytes. `None` where the row is NULL."""

    null_count: int
    def __len__(self) -> int: ...
    def __getitem__(self, row: int) -> str | None: ...
    @staticmethod
    def from_list(texts: Sequence[str | None]) -> TextColumn: ...

@final
class ScanResult:
    """Columns of one table, all of length `rows`, in rowid order."""

    rows: int
    damaged: str | None
    """Why and where reading stopped (salvage only); None when complete."""
    converted: int
    """Values whose stored type was not the asked one. Text in a number column is parsed, and
    NULL when it is no number; a fraction in an integer column is cut towards zero; a number in a
    text column is printed; a blob is taken as text, and is NULL in a number column. A hex column
    takes texts and blobs as they are stored; a number in it is NULL."""
    def names(self) -> list[str]: ...
    def array(self, name: str) -> NDArray[Any]:
        """i64 → int64, i32 → int32, f64 → float64. NULL is the column's `null` value."""
    def text(self, name: str) -> TextColumn:
        """A text column, or the hexadecimal digits of the bytes of a hex column."""
    def null_count(self, name: str) -> int: ...

_CellKind = Literal["i64", "f64", "text"]

@final
class DocumentReader:
    """Chosen records of a JSON or msgpack document, as columns.

    `tables` are (name, path, columns, again); a path joins keys by dots, `[]` is every element of
    an array, `[2]` one of them, `*` every key of an object. A column is (name, path below the
    record, "i64" | "f64" | "text"); the path "" is the record itself where it is no object, "@key"
    the key it stands under. `again` (or ""): where records of the same table stand below a record,
    as in a tree. ValueError for a path that cannot be.

    A record gets its row when it begins: parents precede children. A value of another type is
    converted where that is exact enough (text in a number column is parsed, hexadecimal after 0x
    too; fractions in i64 are cut towards zero; wider integers keep their low 64 bits), else NULL:
    the smallest i64, NaN, None. Texts need not be UTF-8. No Python runs while bytes are read."""

    def __init__(
        self, tables: Sequence[tuple[str, str, Sequence[tuple[str, str, _CellKind]], str]]
    ) -> None: ...
    def feed(self, data: bytes) -> None:
        """The next bytes of a JSON document, in pieces of any size."""
    def finish(self) -> None:
        """The JSON document is over."""
    def read_msgpack(self, data: bytes) -> None:
        """A whole msgpack document, in place of feed and finish."""
    error: str | None
    """Where and why reading stopped: what came before is in the tables. None: it is whole."""
    repaired: int
    """Texts with bytes that are no UTF-8."""
    def rows(self, table: str) -> int: ...
    def open(self, table: str) -> int:
        """Records that had begun where reading stopped."""
    def outer(self, table: str) -> I32:
        """Row of the record (of whatever table) around each record, -1 where there is none."""
    def array(self, table: str, column: str) -> NDArray[Any]: ...
    def text(self, table: str, column: str) -> TextColumn: ...

_ColumnKind = Literal["i64", "i32", "f64", "text", "hex"]

@final
class SqliteFile:
    """A read-only look at an SQLite database file, page by page, without the SQLite library."""

    def __init__(self, path: str | PathLike[str]) -> None:
        """OSError when it cannot be opened, ValueError when it is no SQLite file.

        Pages are read, never mapped: a file cut by another program meanwhile is damage, not a
        crash, and resident memory stays bounded."""
    page_size: int
    page_count: int
    pages_present: int
    """Fewer than page_count: the file was cut."""
    encoding: int
    needs_library: str | None
    """Why the page reader must not read this file (UTF-16, …); None when it may. Files beside it
    (-wal, -journal) are not looked at."""
    def tables(self, *, salvage: bool = False) -> list[SqliteTable]:
        """Without `salvage` a damaged schema raises TraceCorrupt."""
    def read(
        self,
        table: str,
        columns: Sequence[tuple[str, _ColumnKind]],
        *,
        nulls: Mapping[str, int] | None = None,
        share: tuple[int, int] = (0, 1),
        threads: int = 0,
        salvage: bool = False,
    ) -> ScanResult:
        """Decode the asked columns. A table the file or a column the table lacks is a KeyError, a
        table that is `unreadable` a ValueError. Names compare as in SQL, ignoring ASCII case.

        NULL becomes `nulls[name]` (default: the smallest value of the type; NaN for f64).
        An i32 column takes the low 32 bits when the value fits neither int32 nor uint32: it is
        then counted in `converted`. Without `salvage` a damaged page raises TraceCorrupt; with it
        the rows before the damage come back. `share` (i, n): only the i-th of n contiguous shares
        of the table, for bounded memory; after a damaged share the later ones mean nothing.
        `threads` 0: one a processor.
        """
    def row_count(self, table: str, *, salvage: bool = False) -> int:
        """From the page headers alone: no row is read."""
    def unchanged(self) -> bool:
        """False when size, mtime or change counter differ from those at opening."""

# ----------------------------------------------------------------- xplane --

@final
class XSpace:
    """An XSpace file (`xplane.pb`) in columns. Texts are ids of the pool given, -1 where none.

    Events, lines and metadata refer to each other by row."""

    planes: list[tuple[int, str]]
    """(id, name) of each plane."""
    plane_stats: list[tuple[int, str, int | float | str]]
    """(plane row, name, value). Values of bytes are left out."""
    hostnames: list[str]
    errors: list[str]
    warnings: list[str]
    damage: list[tuple[str, int, str]]
    """(plane name, byte offset, reason) of each place where reading stopped."""
    aggregated: int
    """Events without a place in time (counts), left out."""
    bad_time: int
    """Events whose time does not fit int64 ns, left out."""
    negative_dur: int
    """Durations below zero, taken as zero."""
    blobs: list[tuple[int, str, int, int]]
    """(metadata row, stat name, offset, length) of bytes kept in event metadata (HLO modules)."""
    def lines(self) -> dict[str, NDArray[Any]]:
        """plane I32, id uint64, name I32, display I32, timestamp_ns I64."""
    def metadata(self) -> dict[str, NDArray[Any]]:
        """plane I32, id I64, name I32, display I32."""
    def events(self) -> dict[str, NDArray[Any]]:
        """line I32, metadata I32 (-1: not in the file), start_ns I64, dur_ns I64, instant U8 (1:
        recorded without a duration). Start and end are the picoseconds of the file rounded to
        the nearest ns, halves up; times count from the recording's start."""
    def number(self, name: str, *, of: Literal["events", "metadata"] = "events") -> I64 | None:
        """A statistic asked for as a number; the smallest int64 where a row has none. None when
        no row has one. KeyError when it was not asked for."""
    def text(self, name: str, *, of: Literal["events", "metadata"] = "events") -> I32 | None:
        """A statistic asked for as a text, like `number`."""
    def rest(self, *, of: Literal["events", "metadata"] = "events") -> I32 | None:
        """All other statistics of a row as one JSON object."""

def read_xspace(
    data: Buffer, *, numbers: Sequence[str], texts: Sequence[str], pool: StringPool
) -> XSpace:
    """Decode an XSpace message: planes, lines, events and their statistics.

    A statistic missing at an event is taken from the event's metadata (save `rest`). Never fails
    on bad data: a plane is read up to its damage."""

@final
class HloModule:
    """A compiled XLA module. Texts are ids of the pool given, -1 where none."""

    name: str
    id: int
    damaged: str | None
    """Where and why reading stopped early; None when the module is whole."""
    def computations(self) -> dict[str, NDArray[Any]]:
        """id I64, name I32."""
    def instructions(self) -> dict[str, NDArray[Any]]:
        """All I32: computation (row), name, opcode, op_name, file, line (-1: none), stack (row,
        -1: none)."""
    def calls(self) -> tuple[I64, I32]:
        """Offsets and computation rows: instruction i calls rows[offsets[i]:offsets[i + 1]]."""
    def stacks(self) -> dict[str, NDArray[Any]]:
        """offsets I64, then file, function, line (I32, -1: none) of the frames, outermost first:
        stack i is [offsets[i], offsets[i + 1])."""

def read_hlo(data: Buffer, *, pool: StringPool) -> HloModule:
    """Decode an HloProto message. Bad data is read up to its damage.

    A Python stack ends at a cycle and at an id out of range; a block of two or more frames that
    repeats at once is kept once."""

# ----------------------------------------------------- trace-event JSON --

@final
class EventScanner:
    """Reads trace-event JSON (PyTorch, JAX, Chrome) pushed in pieces of any size.

    Strict first; what is no JSON is repaired, and what cannot be is left out and counted
    (`EventScan.report`). Memory: the tables, one piece, and at most one event. No lock of the
    interpreter is held while bytes are read. To cancel, drop the scanner."""

    def __init__(
        self,
        strings: StringPool,
        *,
        max_texts: int = 2_000_000,
        max_text_bytes: int = 268_435_456,
        max_event_bytes: int = 67_108_864,
        max_depth: int = 64,
    ) -> None:
        """`max_texts` and `max_text_bytes` bound the distinct texts of args, shapes and other
        values: past them those columns are NULL and counted as `text_cap`. Names have four times
        that, then become "(too many distinct texts)". An event beyond `max_event_bytes` or
        nested deeper than `max_depth` is left out (`too_big`)."""
    def feed(self, data: bytes | bytearray | memoryview) -> None:
        """The next bytes of the file. RuntimeError after `finish`."""
    def finish(self) -> EventScan:
        """The end of the file. Texts enter the StringPool here."""
    @property
    def bytes_read(self) -> int: ...
    @property
    def events(self) -> int:
        """Read up to now."""

@final
class EventScan:
    """The tables of a file, its envelope, and what was odd in it.

    NULL: -1 in columns of ids, the smallest value in int32 and int64 ones, NaN in float64. "text"
    columns are ids in the StringPool, sound UTF-8. Integers beyond int64 keep their 64 bits. A
    column without any value is a read-only array of NULLs with stride 0. Rows are in file order;
    `seq` is the position among the elements of the file's event array.

    Tables of events have: lane (row of `lane`), ts_ns (as in the file, in µs, exactly rounded; not
    rebased), dur_ns (end rounded less start rounded; >= 0), name (text), args (text: a JSON object
    of the args that are no column, in file order), flags (uint8), seq. Flags: 1 an X without dur,
    2 a negative dur (0 here), 4 no name, 8 repaired, 16 (gpu) a launch flow ends here.

    op: X of cpu_op or Operator (kind 0), user_annotation (kind 1). ext_id, ev_idx, rf_id, seq_nr,
      fwd_thread int64; shape, coll, triton rows of side tables; stack, module text; stream int64.
    python: python_function. py_id, py_parent, py_module int64.
    launch: *_runtime (kind 0), *_driver (kind 1). corr, ext_id int64; cbid int32; as AMD writes
      them: kernel text, config (row), addr0 (src or ptr), addr1 (dst), bytes, stream int64,
      copy_kind text.
    gpu: kind 0 kernel, 1 copy, 2 set, 3 of another accelerator. corr, ext_id int64; device, context
      int32; stream int64 (-1: none); config, coll rows; bytes int64; copy_kind text; graph,
      graph_node int64; priority int32; queued int64; channel int32; channel_type, hsa_queue text;
      from_device, to_device, in_device, from_context, to_context, in_context int32.
    sync: cuda_sync, cuda_event, xpu_sync. cat text; corr, ext_id int64; device, context int32;
      stream int64; sync_kind text; wait_stream, wait_event, wait_corr, event_id int64.
    span: gpu_user_annotation. ext_id int64; device int32; stream int64.
    memory: "[memory]" of any phase. addr, bytes (negative: freed), total_alloc, total_reserved
      int64; dev_type (0 CPU, 1 CUDA), dev_id int32.
    overhead; window (cat Trace); range (counters over a range, values in args): cat text.
    other: X, i, I, R of any other category. cat text; ph uint8; corr, begin_ns, end_ns int64.
    mark: B, E, and asynchronous b n e S T p F, unpaired. cat text; ph uint8; id, scope text.
    counter: a row per C event and args key. lane, ts_ns, name, series text, value float64, id
      text, seq.
    flow: s, t, f but those from a launch to its GPU operation. lane, ts_ns, cat text, ph uint8,
      name text, id int64 (NULL where it is no integer), id_text text (then), seq.
    meta: M. name, pid, tid text; value text (args.name or args.labels); sort_index int64; args,
      seq.
    lane: side uint8 (0 host, 1 gpu, 2 async, 3 counter, 4 window; of the category, not the pid);
      pid, tid text; pid_num, tid_num int64, the number in them ("stream 7 ").
    shape: dims, types, strides, concrete text (JSON).
    config: grid_x … block_z, registers, smem_bytes int64; blocks_per_sm, warps_per_sm,
      occupancy_pct float64; occupancy text (JSON).
    collective: name, dtype text; in_nelems, out_nelems int64; in_split, out_split text; group_size,
      rank int64; pg_name, pg_desc, pg_id, pg_ranks text; rank_start, rank_stride, src_rank,
      dst_rank, seq, comms_id int64; is_async text.
    triton: backend, file, hash, kwargs, kernel text; num_warps, num_stages int64.
    """

    def tables(self) -> list[str]: ...
    def rows(self, table: str) -> int: ...
    def take(self, table: str) -> dict[str, NDArray[Any]]:
        """The columns of a table, once: its memory goes with the arrays. KeyError for a table that
        is not there or has been taken."""
    @property
    def layout(self) -> Literal["object", "list", "lines", "none"]:
        """How the events stand in the file; "none" when no array of events was seen."""
    @property
    def metadata(self) -> dict[str, str | None]:
        """The other top-level keys: JSON text that any parser reads, of the last value of each;
        None where it was longer than 1 MiB."""
    @property
    def events(self) -> int: ...
    @property
    def phases(self) -> dict[str, int]:
        """Events by ph, "" without one."""
    @property
    def categories(self) -> dict[str, int]:
        """Events of all phases by cat, "" without one."""
    @property
    def flows_dropped(self) -> dict[str, int]:
        """By cat: flow events from launches to GPU operations. They repeat the correlation."""
    @property
    def report(self) -> dict[str, tuple[int, tuple[int, ...]]]:
        """By reason, the count and the first 20 byte offsets in the file. Reasons: recovered
        (repaired), repaired_text (distinct texts; no offsets), non_finite, coerced (a number as a
        string), wide_int, dup_key, empty_element (no object, or one without keys), unclosed,
        truncated, no_ts, bad_time, missing_field, odd_type, neg_dur, too_big, lost (left out as
        unreadable), bad_phase, bad_metadata, text_cap."""
    @property
    def ts_fraction(self) -> int:
        """Of ts and dur in µs: 0 no fractions, 1 all multiples of 0.25, 2 finer ones."""

# ------------------------------------------------------------------- tree --

@final
class StringPool:
    """Interned texts with dense int32 ids in order of first use.

    A ColumnStream takes it as a text column of its present length. Safe to share by threads."""

    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> str: ...
    def intern(self, text: str) -> int: ...
    def intern_column(self, column: TextColumn) -> I32:
        """Ids of a whole column, -1 where NULL."""
    def intern_rows(self, column: TextColumn, rows: I64) -> I32:
        """Ids of `column[rows[i]]`, -1 where rows[i] < 0 or the text is NULL."""
    def name_keys(self, ids: I32) -> I32:
        """Id of the normalised text of each id (-1 stays -1); interns the keys it makes.

        0x addresses and digit runs not preceded by a letter become `#`, repeated `#` collapse;
        so do numbers glued to layer, block, iter, step, batch, expert, rank."""

def name_key(text: str) -> str: ...
def intern_rows(columns: Sequence[NDArray[Any]]) -> tuple[I32, I64]:
    """Dense id of each distinct combination of values (order of first use), and the first row of
    each id. Columns: integers of any width, one length."""

def join_first(left: Sequence[NDArray[Any]], right: Sequence[NDArray[Any]]) -> I32:
    """For each left row the first right row whose key columns are equal, else -1."""

def sort_order(keys: Sequence[NDArray[Any]]) -> NDArray[np.uint32]:
    """Stable ascending order by the integer key columns, first key most significant."""

def is_sorted(keys: Sequence[NDArray[Any]]) -> bool: ...

@final
class Nesting:
    """Containment of the events of each lane. Arrays are indexed by event (save `order`)."""

    order: NDArray[np.uint32]
    """Events by (lane, start, end descending, rank, row): parents before children."""
    parent: I32
    """Row of the innermost event that contains this one on its lane, -1 at the top."""
    depth: I16
    """0 at the top; stops counting at 32767."""
    self_ns: I64
    """Time during which the event is the latest-started open one of its lane: never negative,
    sums to the union of the lane exactly."""
    partial_overlaps: int
    """Events that outlived the event open when they began (attached to a containing one)."""

def nest(
    lane: I32,
    start: I64,
    end: I64,
    rank: U8,
    *,
    tolerance_ns: int = 0,
    preferred: I32 | None = None,
) -> Nesting:
    """One stack sweep per lane. Equal intervals nest by rank, lowest outermost.

    An event of no length holds none. ValueError where an event ends before it starts or a time
    lies beyond ±2^62 ns.

    An event that overhangs the open one by at most tolerance_ns, and overlaps it by at least
    half its length, stays its child.

    `preferred`: rows known to be parents (-1: none). One takes the place of a parent that lies
    above it, when it is on the lane, comes first and holds the event within tolerance_ns."""

def locate(nesting: Nesting, lane: I32, start: I64, end: I64, point_lane: I32, point: I64) -> I32:
    """Innermost event of the lane that is open at each point (start <= t < end), else -1."""

def pair_marks(group: I32, begins: U8, name: I32) -> I32:
    """For each begin mark (begins != 0) the row of its end, for each end that of its begin, -1
    where there is none. Rows in order of time; an end closes the latest open begin of its group
    with its name, or whatever its name when that is -1."""

@final
class PathTree:
    """A calling context tree being built. Node 0 is the root; a parent precedes its children.

    A frame is an interned (layer, name, file, line). The root's frame is 0, the first interned.
    Safe to share by threads, one call at a time."""

    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def frame(self, layer: int, name: int, file: int = -1, line: int = -1) -> int: ...
    def frames(
        self, layer: U8, name: I32, file: I32 | None = None, line: I32 | None = None
    ) -> I32: ...
    def frame_count(self) -> int: ...
    def child(self, parent: int, frame: int) -> int: ...
    def extend(self, parent: I32, frame: I32) -> I32:
        """Node for each (parent node, frame) pair, -1 where the parent is -1."""
    def extend_folded(self, parent: I32, frame: I32, fate: I8) -> I32:
        """Copy a tree, given by rows of which parents come first; the node of each row.

        A row of fate 1 becomes a child of its parent's node (the root where the parent is -1),
        one of fate 0 is folded into that node, one of fate -1 is left out (-1) with all below it.
        Rows of one parent and frame are one node. ValueError where a parent does not precede."""
    def extend_nested(
        self,
        nesting: Nesting,
        frame: I32,
        lane_root: I32,
        *,
        chain: I32 | None = None,
        chain_offsets: I64 | None = None,
        chain_frames: I32 | None = None,
        anchor: I32 | None = None,
        anchor_frame: int = -1,
    ) -> I32:
        """Node of each event: its nesting parent's node (the lane's root at the top), then the
        frames of its chain root to leaf (chain[i] >= 0), then its own frame. lane_root and frame
        are indexed by event.

        An event with an anchor (anchor[i] >= 0: an event) hangs below that event's node and
        anchor_frame instead. ValueError when anchors lead in a circle."""
    def extend_chains(self, base: I32, chain: I32, chain_offsets: I64, chain_frames: I32) -> I32:
        """Node reached from base[i] by the frames of chain[i] (base itself where -1).

        Where base[i] is -1 so is the node."""
    def renumber(self) -> I32:
        """Renumber to pre-order (children by first use) and return old id → new id. After it the
        subtree of a node is the id range [node, last[node]], and adding nodes is a RuntimeError."""
    def columns(self) -> dict[str, NDArray[Any]]:
        """parent I32 (-1 for the root), depth I16 (stops counting at 32767), frame I32, and after
        renumber last I32."""
    def frame_columns(self) -> dict[str, NDArray[Any]]:
        """layer U8, name I32, file I32, line I32."""

@final
class GroupStats:
    """One row per group that has rows, ordered by group. sum_squares is float64."""

    group: I64
    count: I64
    sum: I64
    min: I64
    max: I64
    sum_squares: F64

def group_stats(group: NDArray[Any], value: I64) -> GroupStats:
    """Count, sum, min, max, sum of squares of `value` per group id; group < 0 is left out."""

def inclusive(parent: I32, exclusive: NDArray[Any]) -> NDArray[Any]:
    """Sum over each subtree (parents precede children). int64 or float64."""

@final
class PlaceSums:
    """Numbers and sums of events by place and group, added some at a time. Fast where events of
    one place follow each other; memory grows with the pairs that occur."""

    def __init__(self, groups: int, values: int) -> None:
        """Groups are 0 to groups - 1; `values`: how many columns are summed."""
    def add(self, place: I32, group: I32, values: Sequence[I64]) -> None:
        """Add events; those with a negative place are left out. ValueError for a group out of
        range."""
    def take(self) -> tuple[I32, I32, I64, list[I64]]:
        """Place, group, number of events, and the sums: each pair once, ordered by place, groups of
        a place by their first events. They are let go of: only what is added then is added up."""

def subtree_samples(
    parent: I32, step: I32, node: I32, row_of: I64, value: I64, rank: I64, ranks: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """By rank and row, (ranks, rows): what the row costs itself in all steps, and the sum over the
    rank's steps of the squared value of the row's subtree. parent: of the rows; step, node and
    value: exclusive values; row_of: by node the row that counts it, -1 for none; rank: of each
    step. ValueError for steps, nodes, rows and ranks out of range."""

def union_ns(group: I32, start: I64, end: I64, groups: int) -> I64:
    """Length of the union of the intervals of each group; group < 0 is left out."""

def cover(
    group: I32, rank: U8, start: I64, end: I64, groups: int, ranks: int, window: tuple[int, int]
) -> I64:
    """Time of the window per group and rank, shape (groups, ranks + 1).

    At each instant the lowest rank with an open interval takes the time; column `ranks` is the
    time with none. Each row sums to the window exactly. group < 0 is left out."""

def stack_levels(start: I64, end: I64) -> I32:
    """The line each interval is drawn on so that none hides another: the lowest that is free from
    its start on. Rows ascend by start, longer ones first where starts are equal (ValueError when
    they do not ascend): of nested intervals the outer one is above."""

@final
class IntervalSets:
    """Disjoint intervals of each group, ascending; touching ones are one. Never changed.

    Every operation is a linear sweep; those of two sets go group by group, and are a ValueError
    where the numbers of groups differ.
    """

    def __init__(self, group: I32, start: I64, end: I64, groups: int) -> None:
        """The union of the intervals of each group; group < 0 is left out.

        ValueError where an interval ends before it starts or a time lies beyond ±2^62 ns."""
    def __len__(self) -> int:
        """Number of groups."""
    count: int
    """Number of intervals."""
    group: I32
    start: I64
    end: I64
    def lengths(self) -> I64:
        """Time covered, by group."""
    def clip(self, start: int, end: int) -> IntervalSets: ...
    def gaps(self, start: int, end: int) -> IntervalSets:
        """What each group leaves free of the window, its edges included."""
    def overlap(self, other: IntervalSets) -> I64:
        """Length of the common part, by group: `(self & other).lengths()`."""
    def count_inside(self, group: I32, point: I64) -> I64:
        """How many points lie in their group's intervals (start <= t < end), by group;
        group < 0 is left out."""
    def take(self, groups: I32) -> IntervalSets:
        """The sets of these groups, in this order; a group may be taken several times."""
    def __and__(self, other: IntervalSets) -> IntervalSets: ...
    def __or__(self, other: IntervalSets) -> IntervalSets: ...
    def __sub__(self, other: IntervalSets) -> IntervalSets: ...

@final
class BlameRows:
    """Time by key and label; a key may have several rows of one label. Label -1: no state."""

    key: I32
    label: I32
    ns: I64

def blame(
    lane: I32,
    start: I64,
    end: I64,
    rank: U8,
    label: I32,
    *,
    span_lane: I32,
    span_group: I32,
    span_key: I32,
    span_start: I64,
    span_end: I64,
) -> BlameRows:
    """What the threads did during spans of time.

    Columns of states (label < 0 is left out) and of spans, each of one length. At each instant of
    a span the open state of its lane with the lowest rank takes the time, of several the one that
    started last. The rows of a key sum to the length of its spans exactly. Spans of one
    (lane, group) must not overlap: ValueError.
    """

@final
class TreeModel:
    """Which rows of a tree are visible, and in what order. Flat arrays, no recursion."""

    def __init__(self, parent: I32) -> None:
        """Parents precede children; several roots are allowed (parent -1)."""
    def set_order(self, key: I64 | F64, descending: bool = True) -> None:
        """Order of siblings by key, ties by id, NaN last. Keeps what is expanded."""
    def set_filter(self, match: U8 | None) -> None:
        """Show only matches (non-zero), their ancestors and the descendants of matches.

        Ancestors of matches are open while the filter is on; None removes it and brings back
        what was expanded before the first filter."""
    def expand(self, node: int) -> None: ...
    def collapse(self, node: int) -> None: ...
    def expand_subtree(self, node: int) -> None: ...
    def expand_all(self) -> None: ...
    def collapse_all(self) -> None: ...
    def reveal(self, node: int) -> None:
        """Expand the ancestors of node."""
    def is_expanded(self, node: int) -> bool: ...
    def has_children(self, node: int) -> bool:
        """Under the present filter."""
    def children(self, node: int) -> I32: ...
    def row_count(self) -> int: ...
    def rows(self, first: int, count: int) -> I32:
        """Nodes shown in rows [first, first + count)."""
    def row_of(self, node: int) -> int:
        """Row of a visible node, -1 when it is not visible."""
    def hot_path(self, node: int, key: I64 | F64, share: float = 0.5) -> I32:
        """`node`, then the heaviest shown child again and again, while its key is positive and
        at least `share` of its parent's."""

@final
class MergedTree:
    """Two trees as one, in pre-order: a row is a node of either tree, or two that are partners."""

    base: I32
    """Node of the base, -1 where a row is in the target only."""
    target: I32
    parent: I32
    """Row, -1 for a root."""
    kind: U8
    """0 base only, 1 target only; partners: 2 with equal keys, 3 with equal names, 4 alike in
    name, content and place, 5 below parents that are not each other's partners, 6 unlike kernels
    that do the work of the same operator."""

def align_trees(
    base: tuple[I32, I32, I32],
    target: tuple[I32, I32, I32],
    names: TextColumn,
    layers: U8,
    kinds: U8,
) -> MergedTree:
    """Pair up the nodes of two trees, each given as (parent, key, name): parents precede children,
    a key is an exact identity, a name the row of a normalised one in `names`; `layers` are the
    classes of these, of which only equal ones pair; `kinds` tell what makes a node the same under
    another name (`NodeKind` in tree/align.hpp). A moved pair stands below the nearest common
    ancestor of its two places. The pairs do not depend on which tree is called the base.
    ValueError for lengths that differ, names and kinds out of range."""

@final
class BottomUp:
    """The tree turned over: roots are frames, children their callers, values exclusive."""

    parent: I32
    frame: I32
    depth: I16
    source: I32
    """A node of the original tree that this row stands for (the heaviest)."""
    values: list[NDArray[Any]]
    truncated: bool
    """True when max_nodes (or paths of endless recursion) stopped the callers of the deeper
    levels from being listed. Levels are listed wholly or not at all, roots always."""

def bottom_up(
    parent: I32, frame: I32, exclusive: Sequence[NDArray[Any]], *, max_nodes: int = 2_000_000
) -> BottomUp:
    """Roots are the frames of nodes where any metric is not zero. A cost counts once in one root,
    and once per level among its callers, up to and including the top of the tree."""

# ---------------------------------------------------------- live recording --

class _Event:
    def __exit__(self, *error: object) -> None: ...

class Scope(_Event):
    """A user scope of the calling thread, open between `with`'s begin and end. Does nothing while
    no recording runs."""

    def __init__(self, name: str) -> None: ...
    def __enter__(self) -> Self: ...

class Operator(_Event):
    """An operator of a framework that has no hooks of its own. `sequence`: autograd's number of the
    operator, -1 for none. `shapes`, `types`: what it is called with, as JSON lists."""

    def __init__(
        self, name: str, *, sequence: int = -1, shapes: str = "", types: str = ""
    ) -> None: ...
    def __enter__(self) -> Self: ...

_FrameRow = tuple[int, str, str, int, int]
"""Kind, name, file, line, first line of the function."""
_NodeRow = tuple[int, int, _FrameRow, int, int, int, int, int, float, int, int, int, int]
"""Parent and alternate (row numbers or -1), frame, count, sum, self, min, max in ns, sum of squares
in ns², host gap and CPU time in ns, page faults, bytes."""

@final
class Monitor:
    """The recording engine of this process."""

    @staticmethod
    def start(
        *,
        max_nodes: int = 2_000_000,
        max_bytes: int = ...,
        usage: bool = True,
        step_marker: str = "",
    ) -> None:
        """Begins to record; what was recorded stays, unless clear() is called first. `max_bytes`:
        what contexts may take in memory. `step_marker`: the scope that ends steps."""
    @staticmethod
    def stop() -> None: ...
    @staticmethod
    def clear() -> None:
        """Forgets trees, losses and steps."""
    @staticmethod
    def active() -> bool: ...
    @staticmethod
    def node_count() -> int:
        """Contexts of all threads."""
    @staticmethod
    def threads() -> list[tuple[int, int, int, list[_NodeRow]]]:
        """Index, kernel thread id, time in outermost events in ns, and nodes, parents first."""
    @staticmethod
    def callpath(sources: int, *, skip: int = 0) -> list[_FrameRow]:
        """The calling thread's path without its innermost `skip` Python frames."""
    @staticmethod
    def losses() -> dict[str, int]: ...
    @staticmethod
    def hook_cost() -> tuple[int, int]:
        """Calls of torch's hooks and their time in ns, estimated from one call in 256."""
    @staticmethod
    def steps() -> list[tuple[int, int, int, int, int, int, int, int]]:
        """Spans of steps: first step, steps; in ns: begin, end, longest step, time in steps, CPU
        time of the process, Python time before events (-1: not known)."""
    @staticmethod
    def mark_step() -> None: ...
    @staticmethod
    def measures_with_counter() -> bool:
        """Whether time is read from the processor's counter, not from the system's clock."""
    @staticmethod
    def use_frames(which: Literal["raw", "public", "none"]) -> None:
        """How Python frames are read. ValueError for raw where this Python's are not known."""
    @staticmethod
    def use_native_frames(mode: Literal["off", "cached", "exact", "launch", "full"]) -> str:
        """Which C and C++ frames are captured. Why they are not, where a mode is not possible."""
    @staticmethod
    def choose_counters(names: list[str]) -> str:
        """Counters that are read at the begin and end of scopes; why not, where they cannot be
        read: then none is."""
    @staticmethod
    def known_counters() -> list[str]: ...
    @staticmethod
    def sample_cpu(hz: int) -> str:
        """Sample threads that record from now on so many times a second of their CPU time; 0: no
        more. Why not, where the system refuses."""
    @staticmethod
    def frames_agree() -> bool:
        """Whether raw and public frames of the calling thread tell the same."""

@final
class DeviceHooks:
    """Calls of functions of devices that the user named (live/device_config.py)."""

    @staticmethod
    def stack_words(arguments: list[tuple[bool, int]]) -> int:
        """Arguments (floating-point, bytes) that a caller puts on its stack: words of 8 bytes."""
    @staticmethod
    def open(functions: list[dict[str, object]]) -> str:
        """Tells calls of these from now on (see live/device_routes.py): the routes that see them.
        RuntimeError when this process was not started with the hooks."""
    @staticmethod
    def close() -> None: ...
    @staticmethod
    def counts() -> dict[str, int]:
        """`calls` that count, `nested` inside those, `abandoned` by exceptions, `open` launches
        that nothing has waited for."""

_EventRow = tuple[int, int, str, int, int, int, int, int, int, int, int, int, int]
"""Event, kind, name, depth, sequence, forward thread, thread, time and duration in ns, identity;
correlation, device and bytes of GPU work."""

@final
class EventQueue:
    """Keeps the events of a domain (a number and a mask, see monitor/api/dctx_monitor.h) until they
    are taken. RuntimeError when there are too many listeners."""

    def __init__(self, domain: int, mask: int, capacity: int) -> None: ...
    def take(self) -> tuple[list[_EventRow], int]:
        """The events since the last call, and how many were dropped."""
    def close(self) -> None: ...

@final
class EventCalls:
    """Calls a function inside each event of a domain."""

    def __init__(self, domain: int, mask: int, function: Callable[[_EventRow], object]) -> None: ...
    def close(self) -> None: ...

@final
class TorchProbe:
    """Copies torch's events that begin on the calling thread while the object lives; `scopes` has a
    bit for each kind of event. `arguments`: ask for what they are called with, too. RuntimeError
    when torch is not loaded."""

    def __init__(self, scopes: int, *, arguments: bool = False) -> None: ...
    def samples(self) -> list[tuple[str, int, bytes]]:
        """Name, torch's thread id, the first 512 bytes."""
    def arguments(self) -> list[tuple[str, str]]:
        """Name; shapes and types of its inputs, JSON lists on a line each, empty where torch does
        not tell them."""

@final
class TorchIdle:
    """While the object lives torch calls back for each event that is recorded, to no effect.
    RuntimeError when torch is not loaded."""

    def __init__(self) -> None: ...

@final
class TorchMemory:
    """Records what torch's allocators tell. The version of torch must be one that is known to look
    as it is taken to."""

    @staticmethod
    def find() -> None:
        """RuntimeError, with the reason, when torch is not loaded, or lacks what is needed."""
    @staticmethod
    def start() -> None:
        """Allocations go to the trees from now on. Call find() before."""
    @staticmethod
    def stop() -> None: ...
    @staticmethod
    def release() -> None:
        """Before torch's profiler starts on this thread: it refuses to while we listen here."""
    @staticmethod
    def resume() -> None:
        """It has stopped."""
    @staticmethod
    def begin_probe() -> None:
        """Keep what this thread's allocators report, instead of recording it."""
    @staticmethod
    def end_probe() -> list[tuple[int, int, int]]:
        """Bytes (below 0: given back), torch's number of the type of device, its index."""

@final
class GpuOutcome:
    """What came of asking a vendor's library: 0 is success, else `Status` of gpu/provider.hpp."""

    status: int
    reason: str

@final
class Gpu:
    """Recording of GPU work in this process. `libraries`: files to try first."""

    @staticmethod
    def probe(provider: str, libraries: list[str]) -> GpuOutcome:
        """Whether work could be recorded; nothing is initialised."""
    @staticmethod
    def open(
        provider: str,
        libraries: list[str],
        *,
        whole_graphs: bool = False,
        samples: str = "off",
        sample_period: int = 18,
    ) -> GpuOutcome:
        """Begins to record. `whole_graphs`: one record for each replay of a graph. `samples`: how
        instructions are sampled (live.options.Samples), every 2^sample_period cycles."""
    @staticmethod
    def flush(force: bool) -> None: ...
    @staticmethod
    def close() -> None: ...
    @staticmethod
    def versions() -> str:
        """Of what is open, as "CUPTI 13.0"; empty when nothing is."""
    @staticmethod
    def take_notes() -> list[str]:
        """Lines for the user since the last call."""
    @staticmethod
    def counts() -> dict[str, int]:
        """Launches; records, of which some were placed, are orphans or were launched outside the
        recording; records that were dropped."""

@final
class TorchHooks:
    """The callbacks that record torch's events."""

    @staticmethod
    def thread_id() -> int:
        """Torch's id of the calling thread."""
    @staticmethod
    def attach(scope: int, sequence: int, forward_thread: int, *, arguments: bool = False) -> None:
        """Offsets as calibrated, -1 for unknown. `arguments`: note what operators are called with.
        RuntimeError when torch is not loaded."""
    @staticmethod
    def detach() -> None: ...
    @staticmethod
    def attached() -> bool: ...
    @staticmethod
    def associates() -> bool:
        """Whether backward operators are linked to their forward operators."""
    @staticmethod
    def violation() -> str:
        """Why the link was given up while recording; empty when it was not."""

@final
class TorchNvtx:
    """Operators as ranges of NVTX, which loads this library where NVTX_INJECTION64_PATH names
    it."""

    @staticmethod
    def installed() -> bool:
        """Whether a library has taken our functions for its ranges."""
    @staticmethod
    def listen(on: bool) -> None:
        """Ranges become operators and scopes from now on, or no longer."""
    @staticmethod
    def begin_probe() -> None:
        """The calling thread's ranges are noted, not recorded, until end_probe()."""
    @staticmethod
    def end_probe() -> list[str]:
        """The texts of the ranges since begin_probe()."""
