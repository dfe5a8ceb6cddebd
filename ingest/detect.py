"""What a file holds, told by its first bytes and never by its name."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, cast

from .csv_head import csv_table
from .errors import NotATraceError
from .json_head import EVENTS_KEY, JsonHead, look

HEAD_BYTES: Final = 2**16
"""Enough to tell nearly every file."""
LOOK_AHEAD_BYTES: Final = 2**23
"""A JSON trace may begin with megabytes of metadata; nothing is looked at beyond these."""


class Content(StrEnum):
    """What a format module can be asked to read; also the fact `format` of a store."""

    NSYS = "nsys"
    KINETO = "kineto"
    CHROME = "chrome"
    ROCPROF_V1 = "rocprof-v1"
    JAX_TRACE = "jax-trace"
    XPLANE = "xplane"
    ROCPD = "rocpd"
    RPD = "rpd"
    ROCPROFV3 = "rocprofv3"
    ROCPROF_CSV = "rocprofv3-csv"
    PROTON = "proton"
    PROTON_MSGPACK = "proton-msgpack"
    DCTXREC = "dctxrec"


SQLITE_MAGIC: Final = b"SQLite format 3\0"
_CONTAINERS: Final = (
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\xfd7zXZ\0", "xz"),
    (b"BZh", "bzip2"),
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),  # without members
)
_BOM: Final = b"\xef\xbb\xbf"
_BLANK: Final = b" \t\r\n"
_TEXT: Final = _BLANK + bytes(range(32, 127))
_SHOWN_BYTES: Final = 16
_SHOWN_KEYS: Final = 8
_MOST_TEXT: Final = 256
_KINETO_KEYS: Final = frozenset(
    {"schemaVersion", "deviceProperties", "traceName", "baseTimeNanoseconds"}
)
_KINETO_CATEGORIES: Final = frozenset(
    {
        "cpu_op",
        "Operator",
        "user_annotation",
        "python_function",
        "cuda_runtime",
        "cuda_driver",
        "Runtime",
        "xpu_runtime",
        "xpu_driver",
        "mtia_runtime",
        "privateuse1_runtime",
        "privateuse1_driver",
        "glow_runtime",
        "kernel",
        "Kernel",
        "gpu_memcpy",
        "Memcpy",
        "gpu_memset",
        "Memset",
        "mtia_ccp_events",
        "hpu_op",
        "collective_comm",
        "cuda_sync",
        "cuda_event",
        "xpu_sync",
        "gpu_user_annotation",
        "cpu_instant_event",
        "cuda_profiler_range",
        "ac2g",
        "fwdbwd",
        "async_cpu_to_gpu",
    }
)
_HATCHET_KEYS: Final = frozenset({"frame", "metrics", "children"})


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a file is not opened, and what to do instead."""

    what: str
    remedy: str

    def error(self, path: Path | str) -> NotATraceError:
        """As an error about a file: `{name}` in the remedy becomes its quoted name."""
        remedy = self.remedy.replace("{name}", shlex.quote(Path(path).name))
        return NotATraceError(path, self.what, remedy)


REPORTS: Final = "`dctx compare-reports` and `dctx replay` read reports."
READS: Final = (
    "dctx reads traces of PyTorch, JAX, Nsight Systems (SQLite export), rocprofv3, RPD and Proton, "
    "Chrome trace JSON, recordings of dctx record, and .dctx stores."
)


def container_of(head: bytes) -> str | None:
    """The compression a file begins with: gzip, zstd, xz, bzip2, zip, or None."""
    return next((name for magic, name in _CONTAINERS if head.startswith(magic)), None)


def detect(head: bytes, whole: bool) -> Content | Refusal | None:
    """What inflated bytes hold, `whole` when nothing follows them. None: more bytes may tell.

    SQLite is told apart by its tables: see `sqlite_content`."""
    if not head:
        return Refusal("the file is empty: its recording was interrupted.", "Record it again.")
    found = _by_magic(head)
    if found is not None:
        return found
    text = head.removeprefix(_BOM).lstrip(_BLANK)
    if text[:1] in (b"{", b"[") and text:
        seen = look(text)
        return _object(seen, whole) if seen.top == "{" else _array(seen, whole)
    if not text and not whole:
        return None
    return Content.ROCPROF_CSV if csv_table(head) else _unknown(head)


def undecided(head: bytes) -> Content | Refusal:
    """The answer when the bytes looked at do not tell and no more are looked at."""
    return detect(head, True) or _unknown(head)


def sqlite_content(tables: Iterable[str]) -> Content:
    """Whose database it is. What is not known goes to the Nsight reader, which tells why not."""
    names = [table.lower() for table in tables]
    if any(name.startswith(("rocpd_info_agent", "rocpd_kernel_dispatch")) for name in names):
        return Content.ROCPD
    if {"rocpd_op", "rocpd_api"} <= set(names):
        return Content.RPD
    return Content.NSYS


def _by_magic(head: bytes) -> Content | Refusal | None:
    if head.startswith(SQLITE_MAGIC) or (len(head) >= 16 and not any(head[:16])):
        return Content.NSYS  # zeros: a header that was never written
    if head.startswith(b"DCTXREC\0"):
        return Content.DCTXREC
    if head[257:262] == b"ustar":
        return Refusal("this is a tar archive.", "Unpack it: tar -xf {name}")
    if head.startswith(b"\x92\x83"):
        return Content.PROTON_MSGPACK
    if head[:2] in (b"\xff\xfe", b"\xfe\xff") or head[:2] in (b"{\0", b"[\0", b"\0{", b"\0["):
        return Refusal(
            "the text is UTF-16; traces are UTF-8.",
            "Convert it: iconv -f UTF-16 -t UTF-8 {name} > trace.json",
        )
    if head.lstrip(_BLANK)[:9].lower().startswith((b"<!doctype", b"<html")):
        return Refusal("this is an HTML page, not a trace.", READS)
    if head[:1] == b"\x0a":
        return _protobuf(head)
    if head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        return _pickle(head)
    if head.startswith(b"NVR\0"):
        return Refusal(
            "this is a report of Nsight Compute: it holds single kernels, no timeline.",
            "Open it with ncu-ui; record a timeline with nsys or torch.profiler.",
        )
    if head.startswith(b"version https://git-lfs"):
        return Refusal("this is a Git LFS pointer, not the file.", "Fetch it: git lfs pull")
    return None


def _pickle(head: bytes) -> Refusal:
    if b"segments" in head or b"device_traces" in head:
        return Refusal(
            "this is a memory snapshot of PyTorch (a pickle): allocations, no timeline of work.",
            "See it at https://pytorch.org/memory_viz; for a timeline with memory record with "
            "torch.profiler.profile(profile_memory=True).",
        )
    return Refusal("this is a Python pickle, not a trace; pickles are never loaded.", READS)


def _protobuf(head: bytes) -> Content | Refusal | None:
    """XSpace: its first message is a plane (field 1) with a readable name (field 2)."""
    size, at = _varint(head, 1)
    if head[:_SHOWN_BYTES].translate(None, _TEXT) == b"":
        return None  # a blank line begins like that too
    if at < 0 or head[at : at + 1] not in (b"\x08", b"\x12"):
        return _PROTOBUF
    end = min(at + size, len(head))
    while 0 < at < end:
        tag, at = _varint(head, at)
        kind = tag & 7
        if kind == 2:
            length, at = _varint(head, at)
            if at < 0:
                break
            if tag >> 3 == 2:
                return Content.XPLANE if _is_name(head[at : at + length], length) else _PROTOBUF
            at += length
        elif kind == 0:
            _, at = _varint(head, at)
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        else:
            return _PROTOBUF
    return _PROTOBUF


_PROTOBUF: Final = Refusal(
    "this is a Perfetto protobuf trace, or a damaged file.",
    "Export it as JSON: traceconv json {name} trace.json",
)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A protobuf number and the place behind it; -1 when it is cut or too long."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            break
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    return 0, -1


def _is_name(name: bytes, length: int) -> bool:
    try:
        return 0 < length == len(name) <= _MOST_TEXT and name.decode().isprintable()
    except UnicodeDecodeError:
        return False


def _events(seen: JsonHead) -> Content:
    """Whose events they are."""
    for event in seen.events:
        category = event.get("cat")
        if isinstance(category, str) and category in _KINETO_CATEGORIES:
            return Content.KINETO
    if any(_process(event).startswith(("/host:", "/device:")) for event in seen.events):
        return Content.JAX_TRACE
    if "otherData" in seen.values and any("BeginNs" in _args(event) for event in seen.events):
        return Content.ROCPROF_V1
    return Content.CHROME


def _args(event: Mapping[str, Any]) -> Mapping[str, Any]:
    args = event.get("args")
    return cast("dict[str, Any]", args) if isinstance(args, dict) else {}


def _process(event: Mapping[str, Any]) -> str:
    return str(_args(event).get("name", "")) if event.get("name") == "process_name" else ""


def _object(seen: JsonHead, whole: bool) -> Content | Refusal | None:
    keys = seen.values
    ended = whole or seen.complete
    marks = len(_KINETO_KEYS & keys.keys())
    if EVENTS_KEY in keys and marks:
        return Content.KINETO
    if seen.in_events:
        return _events(seen) if ended or seen.events else None
    if "rocprofiler-sdk-tool" in keys:
        return Content.ROCPROFV3
    known = _other_tool(seen)
    if known is not None:
        return known
    if not ended:
        return None
    if EVENTS_KEY in keys:
        return Content.CHROME  # no array: there are no events
    if marks > 1 or "deviceProperties" in keys:
        return Content.KINETO  # nothing was recorded, or the file is cut before its events
    if {"ph", "ts"} <= keys.keys():
        return Content.CHROME  # one event a line
    listed = ", ".join(list(keys)[:_SHOWN_KEYS]) + (", …" if len(keys) > _SHOWN_KEYS else "")
    if seen.more:
        what = f"JSON lines, but their objects are no events (keys: {listed or 'none'})."
    elif not seen.complete:
        what = f"JSON without events, or cut before them (keys found: {listed or 'none'})."
    else:
        what = f"JSON without events (keys: {listed or 'none'})."
    return Refusal(what, READS)


def _other_tool(seen: JsonHead) -> Refusal | None:
    keys = seen.values
    schema = keys.get("schema", b"").lower()
    if {"sheets", "missing"} <= keys.keys():
        return Refusal("this is a report of dctx, not a trace.", f"{REPORTS} {READS}")
    if "nodes" in keys and ("start_ts" in keys or schema):
        return Refusal(
            "an execution trace (Chakra), not a profile: it holds operators and their inputs, "
            "but no timeline.",
            "Open the trace that torch.profiler wrote in the same run.",
        )
    if b"speedscope" in keys.get("$schema", b"") + keys.get("exporter", b""):
        return Refusal(
            "a speedscope profile, not a trace of GPU work.",
            "Open it at https://www.speedscope.app; dctx needs the trace it was made from.",
        )
    if "segments" in keys and "device_traces" in keys:
        return Refusal(
            "a memory snapshot of PyTorch: allocations, no timeline of work.",
            "For a timeline with memory record with torch.profiler.profile(profile_memory=True).",
        )
    return None


def _array(seen: JsonHead, whole: bool) -> Content | Refusal | None:
    if seen.first_keys & _HATCHET_KEYS:
        return Content.PROTON
    if "ph" in seen.first_keys:
        return _events(seen)
    if not (whole or seen.complete):
        return None
    if not seen.first_keys and not seen.others:
        return Content.CHROME  # no events: an empty trace
    listed = ", ".join(sorted(seen.first_keys)[:_SHOWN_KEYS]) or "no objects"
    return Refusal(f"a JSON list, but not of events ({listed}).", READS)


def _unknown(head: bytes) -> Refusal:
    shown = "".join(chr(b) if 32 <= b < 127 else "." for b in head[:_SHOWN_BYTES])
    return Refusal(f"this is no trace that dctx knows; it begins with '{shown}'.", READS)
