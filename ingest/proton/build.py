"""Loads a profile: nodes with their own metrics become contexts with exclusive costs."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...native import DocumentReader, PathTree, StringPool, intern_rows
from ..arrays import I16, I32, I64, NULL64
from ..capabilities import Capability, capability_facts
from ..detect import Content
from ..documents import damage, read_document
from ..errors import TraceError, shown_path
from ..inputs import Source
from ..model import Layer, Severity
from ..progress import Done, Progress, part_of
from ..stalls import StallSamples
from ..tree_only import Costs, OtherValues, Profile, write_profile
from ..writer import StoreWriter
from .devices import Devices
from .stalls import LINE, PREFIX, stall_samples

_TIME: Final = "time (ns)"
_COUNT: Final = "count"
_CPU_TIME: Final = "cpu_time (ns)"
_BYTES: Final = "bytes"
_DEVICE: Final = ("device_id", "device_type")
_TYPED: Final = (_TIME, _COUNT, _CPU_TIME, _BYTES, *_DEVICE)
_EXCLUSIVE: Final = " (exc)"
_PROPERTY: Final = " (pty)"
_NO_EVENTS: Final = (
    'aggregated profile, no timeline; for single events record with proton.start(data="trace").'
)


def _reader() -> DocumentReader:
    node: list[tuple[str, str, Any]] = [("name", "frame.name", "text")]
    metric: list[tuple[str, str, Any]] = [
        ("key", "@key", "text"),
        ("value", "", "f64"),
        ("whole", "", "i64"),
        ("text", "", "text"),
    ]
    device: list[tuple[str, str, Any]] = [("id", "@key", "text"), ("arch", "arch", "text")]
    numbers = ("num_sms", "clock_rate", "memory_clock_rate", "bus_width")
    device += [(name, name, "i64") for name in numbers]
    return DocumentReader(
        [
            ("node", "[0]", node, "children[]"),
            ("metric", "[0].metrics.*", metric, ""),
            ("kind", "[1].*", [("type", "@key", "text")], ""),
            ("device", "[1].*.*", device, ""),
        ]
    )


def load(source: Source, writer: StoreWriter, progress: Progress) -> None:
    """Fill the store. TraceError when the file ends before its first context."""
    progress("Reading the profile", 0.05)
    document = _reader()

    def tell(part: Done) -> None:
        progress("Reading the profile", part_of(part, 0.05, 0.4))

    if source.content is Content.PROTON_MSGPACK:
        whole = source.read_all(tell)
        document.read_msgpack(whole)
        lost = damage(document, len(whole))
    else:
        lost = read_document(source, document, tell)
    if not document.rows("node"):
        raise TraceError(
            source.path,
            f"the profile holds no context ({lost or 'its tree is empty'}).",
            "Let the program end by itself, or call proton.finalize().",
        )
    progress("Building call paths", 0.5)
    found = _Contexts(document, shown_path(writer.source.name))
    progress("Summing up", 0.7)
    found.write(writer, document, lost)


class _Contexts:
    """The tree and what its contexts cost."""

    def __init__(self, document: DocumentReader, root_name: str) -> None:
        self._pool = StringPool()
        self._tree = PathTree()
        self._tree.frame(Layer.ROOT, self._pool.intern(root_name))
        self._read_metrics(document)
        self._devices = Devices(document)
        self._enter(document)

    def _read_metrics(self, document: DocumentReader) -> None:
        """Metrics of each node. Those of the root are placeholders of the sums."""
        text, self._keys = document.text("metric", "key"), StringPool()
        key = self._keys.intern_column(text)
        outer = document.outer("metric")
        own = np.flatnonzero(outer > 0)
        self._key, self._node_row = key[own], outer[own]
        self._value = document.array("metric", "value")[own]
        self._whole = document.array("metric", "whole")[own]
        texts = document.text("metric", "text")
        self._values = StringPool()
        self._text = self._values.intern_rows(texts, own)

    def _metric(self, name: str, rows: int) -> I64:
        """A whole metric by node, NULL64 where the node lacks it; `name` with (exc) is the same."""
        out = np.full(rows, NULL64)
        for spelled in (name, name + _EXCLUSIVE):
            here = self._key == self._keys.intern(spelled)
            out[self._node_row[here]] = self._whole[here]
        return out

    def _label(self, name: str, rows: int) -> list[str | None]:
        """A metric that is a text, by node."""
        out = np.full(rows, -1, np.int32)
        here = self._key == self._keys.intern(name)
        out[self._node_row[here]] = self._text[here]
        used, index = np.unique(out, return_inverse=True)
        texts = [None if text < 0 else self._values[text] for text in used.tolist()]
        return [texts[place] for place in index.tolist()]

    def _enter(self, document: DocumentReader) -> None:
        rows = document.rows("node")
        names = self._pool.intern_column(document.text("node", "name"))
        names = np.where(names < 0, self._pool.intern("(no name)"), names).astype(np.int32)
        self._time = self._metric(_TIME, rows)
        self._device = self._device_column(rows)
        kernel = (self._time != NULL64) | (self._device >= 0)
        kernel[0] = False
        frame = self._frames(names, kernel)
        # A parent comes before its children, and may be as new as the row before.
        child, node_of = self._tree.child, [0] * rows
        self._parents = document.outer("node")
        parents: list[int] = self._parents.tolist()
        frames: list[int] = frame.tolist()
        for row, (parent, own) in enumerate(zip(parents, frames, strict=True)):
            if parent >= 0:
                node_of[row] = child(node_of[parent], own)
        self._node = np.array(node_of, np.int32)
        self._names = names
        self._kernel_name = np.where(kernel, names, -1).astype(np.int32)

    def _device_column(self, rows: int) -> I16:
        kinds, numbers = self._label("device_type", rows), self._label("device_id", rows)
        return np.array(
            [
                -1 if number is None else self._devices.device(kind or "", number)
                for kind, number in zip(kinds, numbers, strict=True)
            ],
            np.int16,
        )

    def _frames(self, names: I32, kernel: NDArray[np.bool_]) -> I32:
        """Frame of each node: a kernel, a line of Python, or a scope of the program."""
        index, first = intern_rows([names, kernel.astype(np.uint8)])
        made: list[int] = []
        for name, is_kernel in zip(names[first].tolist(), kernel[first].tolist(), strict=True):
            python = None if is_kernel else LINE.fullmatch(self._pool[name])
            if is_kernel:
                made.append(self._tree.frame(Layer.KERNEL, name))
            elif python is not None:
                file, line, function = python.groups()
                file_id, function_id = self._pool.intern(file), self._pool.intern(function)
                made.append(self._tree.frame(Layer.PYTHON, function_id, file_id, int(line)))
            else:
                made.append(self._tree.frame(Layer.ANNOTATION, name))
        return np.array(made, np.int32)[index]

    def _costs(self, rows: int) -> Costs:
        count, cpu = self._metric(_COUNT, rows), self._metric(_CPU_TIME, rows)
        on_gpu = self._device >= 0
        ops = np.where(on_gpu & (self._time != NULL64), np.where(count > 0, count, NULL64), NULL64)
        return Costs(
            self._node,
            self._device,
            {
                "calls": np.where(on_gpu, NULL64, count),
                "host_ns": cpu,
                "gpu_ops": ops,
                "kernels": ops,
                "gpu_ns": np.where(on_gpu, self._time, NULL64),
                "bytes": self._metric(_BYTES, rows),
            },
        )

    def _others(self) -> OtherValues | None:
        """Metrics that have no column: flops, cycles, samples and stalls, the program's own."""
        typed = [self._keys.intern(name) for name in _TYPED]
        typed += [self._keys.intern(name + _EXCLUSIVE) for name in _TYPED]
        other = ~np.isin(self._key, typed) & ~np.isnan(self._value)
        if not other.any():
            return None
        used, index = np.unique(self._key[other], return_inverse=True)
        texts = [self._keys[key] for key in used.tolist()]
        plain = [self._pool.intern(text.removesuffix(_EXCLUSIVE)) for text in texts]
        node = self._node_row[other]
        return OtherValues(
            self._node[node],
            self._device[node],
            np.array(plain, np.int32)[index],
            self._value[other],
            np.array([text.endswith(_PROPERTY) for text in texts], np.bool_)[index],
            node,
        )

    def _stalls(self) -> StallSamples | None:
        """What was sampled of kernels and their lines. A count of 0 is none."""
        used = np.unique(self._key).tolist()
        told = [key for key in used if self._keys[key].startswith(PREFIX)]
        rows = np.flatnonzero(np.isin(self._key, told) & (self._whole > 0))
        reasons = [
            self._keys[key].removesuffix(_EXCLUSIVE).removeprefix(PREFIX)
            for key in self._key[rows].tolist()
        ]
        return stall_samples(
            self._pool,
            self._node_row[rows],
            reasons,
            self._whole[rows],
            names=self._names,
            parents=self._parents,
            node=self._node,
            device=self._device,
        )

    def write(self, writer: StoreWriter, document: DocumentReader, lost: str) -> None:
        """Fill the store. `lost`: what to tell of damage to the file."""
        others = self._others()
        notes: list[tuple[Severity, str, str]] = []
        if lost:
            text = f"The profile is {lost}; what comes before is shown."
            notes.append((Severity.ERROR, "import", text))
        if others is not None:
            names = sorted({self._pool[name] for name in np.unique(others.name).tolist()})
            text = (
                f"Further metrics of the profile are in the table path_value: {', '.join(names)}."
            )
            notes.append((Severity.INFO, "import", text))
        if document.repaired:
            text = f"{document.repaired} texts hold bytes that are no UTF-8; each is shown as �."
            notes.append((Severity.INFO, "import", text))
        rows = document.rows("node")
        frames = self._tree.frame_columns()["layer"]
        work = bool((self._device >= 0).any())
        facts = {
            "producer": "Proton (Triton)",
            "reader": "hatchet",
            "rows.node": rows,
            "used.node": rows,
            **capability_facts(
                {
                    Capability.GPU_WORK: ""
                    if work
                    else 'no kernel in the profile: record with proton.start(backend="cupti") '
                    'or "roctracer".',
                    Capability.PYTHON_FRAMES: ""
                    if bool((frames == Layer.PYTHON).any())
                    else 'recorded by scopes: for Python lines use proton.start(context="python").',
                    Capability.EVENTS: _NO_EVENTS,
                }
            ),
        }
        profile = Profile(
            self._tree,
            self._pool,
            self._devices.items,
            self._costs(rows),
            self._kernel_name,
            others,
            parents=self._parents,
            stalls=self._stalls(),
        )
        write_profile(writer, profile, facts, notes)
