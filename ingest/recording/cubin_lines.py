"""Source lines of instructions, from the line table that the code of a GPU brings along."""

from __future__ import annotations

import io
from bisect import bisect_right
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

_SECTION: Final = ".debug_line"
_SET_ADDRESS: Final = 2
_FIRST_WITH_BASE_0: Final = 5
"""The version of DWARF that counts files from 0; older ones count from 1."""


@dataclass(slots=True)
class _Function:
    """Rows in the order of their addresses."""

    addresses: list[int] = field(default_factory=list[int])
    places: list[tuple[str, int] | None] = field(default_factory=list[tuple[str, int] | None])


class LineTable:
    """Of one cubin. Addresses are bytes from the start of a function, told by its symbol."""

    def __init__(self) -> None:
        self._functions: dict[str, _Function] = {}

    def add(self, function: str, address: int, place: tuple[str, int] | None) -> None:
        """The instructions from here on are of this file and line; None: of none."""
        rows = self._functions.setdefault(function, _Function())
        rows.addresses.append(address)
        rows.places.append(place)

    def find(self, function: str, offset: int) -> tuple[str, int] | None:
        """File and line of an instruction; None where the table does not tell."""
        rows = self._functions.get(function)
        if rows is None:
            return None
        at = bisect_right(rows.addresses, offset) - 1
        return rows.places[at] if at >= 0 else None


def can_read_lines() -> bool:
    """Whether what reads them, pyelftools, is installed."""
    return find_spec("elftools") is not None


def line_table(cubin: bytes) -> LineTable:
    """The table of a cubin; empty when it has none, or is damaged. Needs can_read_lines()."""
    found = LineTable()
    elf_error: Any = import_module("elftools.common.exceptions")
    damaged = (elf_error.ELFError, elf_error.DWARFError, elf_error.ELFParseError)
    try:
        elf: Any = import_module("elftools.elf.elffile").ELFFile(io.BytesIO(cubin))
        section = elf.get_section_by_name(_SECTION)
        if section is not None:
            _read(section.data(), _functions_of(elf), elf.little_endian, found)
    except (*damaged, ValueError, KeyError, IndexError, TypeError, AttributeError, OSError):
        return LineTable()  # what was read of it would be of doubtful worth
    except AssertionError:
        return LineTable()
    return found


def _functions_of(elf: Any) -> list[str]:
    """The functions that the table's sequences are of, in their order: each sequence begins with
    an address that the linker would fill in."""
    relocations = elf.get_section_by_name(f".rela{_SECTION}") or elf.get_section_by_name(
        f".rel{_SECTION}"
    )
    if relocations is None:
        return []
    symbols = elf.get_section(relocations["sh_link"])
    found = [
        (int(entry["r_offset"]), str(symbols.get_symbol(entry["r_info_sym"]).name))
        for entry in relocations.iter_relocations()
    ]
    return [name for _, name in sorted(found)]


def _read(data: bytes, functions: list[str], little_endian: bool, found: LineTable) -> None:
    structs_module: Any = import_module("elftools.dwarf.structs")
    program_module: Any = import_module("elftools.dwarf.lineprogram")
    parse: Any = import_module("elftools.common.utils").struct_parse
    stream = io.BytesIO(data)
    structs = structs_module.DWARFStructs(
        little_endian=little_endian, dwarf_format=32, address_size=8, dwarf_version=2
    )
    at, sequence = 0, -1
    while at < len(data):
        header = parse(structs.Dwarf_lineprog_header, stream, at)
        end = at + int(header["unit_length"]) + structs.initial_length_field_size()
        program = program_module.LineProgram(header, stream, structs, stream.tell(), end)
        files = _files(header)
        for entry in program.get_entries():
            if entry.is_extended and entry.command == _SET_ADDRESS:
                sequence += 1
            state = entry.state
            if state is None or not 0 <= sequence < len(functions):
                continue
            number = int(state.file) - (0 if int(header["version"]) >= _FIRST_WITH_BASE_0 else 1)
            known = not state.end_sequence and 0 <= number < len(files) and int(state.line) > 0
            place = (files[number], int(state.line)) if known else None
            found.add(functions[sequence], int(state.address), place)
        at = end


def _files(header: Any) -> list[str]:
    folders = [_text(folder) for folder in header["include_directory"]]
    base = 0 if int(header["version"]) >= _FIRST_WITH_BASE_0 else 1
    names: list[str] = []
    for entry in header["file_entry"]:
        name, folder = _text(entry["name"]), int(entry["dir_index"]) - base
        inside = not name.startswith("/") and 0 <= folder < len(folders)
        names.append(f"{folders[folder]}/{name}" if inside else name)
    return names


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
