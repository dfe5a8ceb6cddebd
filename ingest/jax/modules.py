"""The compiled XLA modules of a recording, and the path of each of their operations."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...native import HloModule, PathTree, StringPool, read_hlo
from ..arrays import I32, I64, NULL64
from ..model import Layer
from .recording import Blob

BACKWARD: Final = "[backward]"
_MARK: Final = "transpose(jvp("
_NO_WORK: Final = frozenset({"parameter", "constant", "tuple", "get-tuple-element", "bitcast"})
"""Instructions of a fusion that compute nothing."""
_CONTROL: Final = frozenset({"while", "call", "conditional", "async-start"})
"""Instructions that run the computations they call one instruction at a time."""
_LIBRARY: Final = "custom-call"
_MOST_PARTS: Final = 64
"""Of a fusion, listed by name."""

Source = tuple[str, str, int]
"""(file, function, line) of a Python frame; -1: line not recorded."""


@dataclass(slots=True)
class Operation:
    """An HLO operation as events name it."""

    frames: tuple[int, ...]
    """Jitted function, Python frames, [backward] where it is backward work: root to leaf."""
    frame: int
    """Its own."""
    args: int
    """Text of the pool: what it is, and what it was fused from, as JSON."""
    sourced: bool
    """Its Python source is known."""


@dataclass(slots=True)
class Program:
    """A compiled module, by what it runs."""

    program: int
    jitted: int
    """Frame of the jitted function."""
    launched: list[int]
    """Names, texts of the pool, of the instructions that run by themselves: not those inside of a
    fusion."""
    calls_libraries: bool
    """Some of them are calls of what XLA has not compiled: GEMM, convolution."""


class Modules:
    """Finds operations by program id and name. Modules are decoded when first asked for."""

    def __init__(self, blobs: Sequence[Blob], pool: StringPool, tree: PathTree) -> None:
        self._pool = pool
        self._tree = tree
        self._blobs: dict[int, Blob] = {}
        self._programs: dict[str, int] = {}
        """Program of each module name; NULL64 where several share it."""
        self._loaded: dict[int, _Module | None] = {}
        self.damaged = 0
        self._find_blobs(blobs)

    def __len__(self) -> int:
        return len(self._blobs)

    @property
    def by_jax(self) -> bool:
        """JAX named the modules."""
        return any(jitted_name(name) != name for name in self._programs)

    def programs(self) -> Iterator["Program"]:
        """All of them, decoded."""
        for program in self._blobs:
            if (found := self._module(program)) is not None:
                yield Program(program, found.jitted, found.launched(), found.calls_libraries)

    def operation(self, program: int, module: str, name: int, op_name: str) -> Operation:
        """The operation `name` (a text of the pool) of a program. `module` and `op_name` are what
        the event says; they serve where the program is not in the recording."""
        if program == NULL64:
            program = self._programs.get(module, NULL64)
        found = self._module(program)
        row = -1 if found is None else found.row(name)
        if found is None or row < 0:
            return self._unknown(module, name, op_name)
        return found.operation(row)

    def _unknown(self, module: str, name: int, op_name: str) -> Operation:
        frames = [self._jitted(module)] if module else []
        text = self._pool[name]
        frames += _scopes(self._tree, self._pool, op_name)
        frame = self._tree.frame(Layer.HLO, name)
        facts = {"hlo": text, "module": module, "op_name": op_name}
        args = self._pool.intern(_json({key: value for key, value in facts.items() if value}))
        return Operation(tuple(frames), frame, args, False)

    def _jitted(self, module: str) -> int:
        return self._tree.frame(Layer.PYTHON, self._pool.intern(jitted_name(module)))

    def _find_blobs(self, blobs: Sequence[Blob]) -> None:
        for blob in blobs:
            module, _, number = blob.name.rstrip(")").rpartition("(")
            program = blob.program
            if program == NULL64:
                program = int(number) if number.isdecimal() else blob.key
            self._blobs.setdefault(program, blob)
            known = self._programs.setdefault(module or blob.name, program)
            if known != program:
                self._programs[module or blob.name] = NULL64

    def _module(self, program: int) -> "_Module | None":
        if program not in self._blobs:
            return None
        if program not in self._loaded:
            module = read_hlo(self._blobs[program].data, pool=self._pool)
            self.damaged += module.damaged is not None
            jitted = self._jitted(module.name)
            self._loaded[program] = _Module(module, program, jitted, self._tree, self._pool)
        return self._loaded[program]


def jitted_name(module: str) -> str:
    """Name of the function that a module was compiled from, as JAX writes it in op names."""
    for prefix in ("jit", "pmap"):
        if module.startswith(f"{prefix}_"):
            return f"{prefix}({module[len(prefix) + 1 :]})"
    return module


def _scopes(tree: PathTree, pool: StringPool, op_name: str) -> list[int]:
    """Frames for an operation whose source is only told by its op_name."""
    if not op_name:
        return []
    frames = [tree.frame(Layer.OP, pool.intern(op_name))]
    if _MARK in op_name:
        frames.append(tree.frame(Layer.BACKWARD, pool.intern(BACKWARD)))
    return frames


def _json(facts: dict[str, object]) -> str:
    return json.dumps(facts, ensure_ascii=False, separators=(",", ":"))


class _Module:
    """A decoded module."""

    def __init__(
        self, module: HloModule, program: int, jitted: int, tree: PathTree, pool: StringPool
    ) -> None:
        self._tree = tree
        self._pool = pool
        self._program = program
        self._name = module.name
        self.jitted = jitted
        rows = module.instructions()
        self._names: I32 = rows["name"]
        self._opcode: I32 = rows["opcode"]
        self._op_name: I32 = rows["op_name"]
        self._file: I32 = rows["file"]
        self._line: I32 = rows["line"]
        self._stack: I32 = rows["stack"]
        self._computation: I32 = rows["computation"]
        self._call_offsets, self._calls = module.calls()
        stacks = module.stacks()
        self._stack_offsets: I64 = stacks["offsets"]
        self._stack_columns: tuple[I32, I32, I32] = (
            stacks["file"],
            stacks["function"],
            stacks["line"],
        )
        self._by_name: I64 = np.argsort(self._names, kind="stable")
        self._sorted: I32 = self._names[self._by_name]

    @property
    def calls_libraries(self) -> bool:
        """An instruction is a custom call."""
        return bool((self._opcode == self._pool.intern(_LIBRARY)).any())

    def launched(self) -> list[int]:
        """Names of the instructions that are no part of another one and do work."""
        opcodes = [self._text(opcode) for opcode in self._opcode.tolist()]
        part_of: set[int] = set()
        for row, opcode in enumerate(opcodes):
            if opcode not in _CONTROL:
                first, last = self._call_offsets[row : row + 2].tolist()
                part_of.update(self._calls[first:last].tolist())
        return [
            int(self._names[row])
            for row, opcode in enumerate(opcodes)
            if opcode not in _NO_WORK and int(self._computation[row]) not in part_of
        ]

    def row(self, name: int) -> int:
        """The instruction of a name, -1 when the module has none."""
        at = int(np.searchsorted(self._sorted, name))
        if at == len(self._sorted) or self._sorted[at] != name:
            return -1
        return int(self._by_name[at])

    def operation(self, row: int) -> Operation:
        """Frames and description of an instruction."""
        parts = self._parts(row)
        told = next((i for i in (row, *reversed(parts)) if self._path(i)), row)
        path = self._inside(self._path(told))
        text = self._text(self._op_name[row]) or self._text(self._op_name[told])
        frames = [self.jitted]
        pool, tree = self._pool, self._tree
        for file, function, line in path:
            layer = Layer.PYTHON if function else Layer.SOURCE_LINE
            name = function or f"{file.rpartition('/')[2]}:{line}"
            frames.append(tree.frame(layer, pool.intern(name), pool.intern(file), line))
        if not path:
            frames += _scopes(tree, pool, text)
        elif _MARK in text:
            frames.append(tree.frame(Layer.BACKWARD, pool.intern(BACKWARD)))
        file, _, line = path[-1] if path else ("", "", -1)
        own = tree.frame(Layer.HLO, int(self._names[row]), pool.intern(file) if file else -1, line)
        args = pool.intern(_json(self._facts(row, text, path, parts)))
        return Operation(tuple(frames), own, args, bool(path))

    def _facts(
        self, row: int, op_name: str, path: list[Source], parts: list[int]
    ) -> dict[str, object]:
        facts: dict[str, object] = {
            "hlo": self._text(self._names[row]),
            "opcode": self._text(self._opcode[row]),
            "module": self._name,
            "program_id": self._program,
        }
        if op_name:
            facts["op_name"] = op_name
        if path:
            facts["source"] = _place(path[-1])
        if self._text(self._opcode[row]) == "fusion":
            listed = [self._part(part) for part in parts[:_MOST_PARTS]]
            if len(parts) > _MOST_PARTS:
                listed.append({"more": len(parts) - _MOST_PARTS})
            facts["fused_from"] = listed
        return facts

    def _part(self, row: int) -> dict[str, object]:
        facts: dict[str, object] = {
            "hlo": self._text(self._names[row]),
            "opcode": self._text(self._opcode[row]),
        }
        if op_name := self._text(self._op_name[row]):
            facts["op_name"] = op_name
        if path := self._path(row):
            facts["source"] = _place(path[-1])
        return facts

    def _parts(self, row: int) -> list[int]:
        """Instructions that a fusion was made from, in order."""
        called = self._calls[self._call_offsets[row] : self._call_offsets[row + 1]]
        # Instructions stand computation by computation.
        first = np.searchsorted(self._computation, called, "left").tolist()
        last = np.searchsorted(self._computation, called, "right").tolist()
        inside = (i for bounds in zip(first, last, strict=True) for i in range(*bounds))
        return [i for i in inside if self._text(self._opcode[i]) not in _NO_WORK]

    def _path(self, row: int) -> list[Source]:
        """Python frames of an instruction, outermost first: its stack, else its source line."""
        stack = int(self._stack[row])
        if stack >= 0:
            first, last = self._stack_offsets[stack : stack + 2].tolist()
            files, functions, lines = (
                column[first:last].tolist() for column in self._stack_columns
            )
            return [
                (self._text(file), self._text(function), line)
                for file, function, line in zip(files, functions, lines, strict=True)
            ]
        if self._file[row] >= 0:
            return [(self._text(self._file[row]), "", int(self._line[row]))]
        return []

    def _inside(self, path: list[Source]) -> list[Source]:
        """A path from the jitted function on: its callers are those of its first call only."""
        function = self._name.partition("_")[2]
        for i, (_, name, _) in enumerate(path):
            if name.rpartition(".")[2] == function:
                return path[i:]
        return path

    def _text(self, text: int | np.int32) -> str:
        return "" if text < 0 else self._pool[int(text)]


def _place(source: Source) -> str:
    file, function, line = source
    place = f"{file}:{line}" if line > 0 else file
    return f"{place} {function}".strip()
