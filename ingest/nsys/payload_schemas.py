"""Binary payloads of NVTX events, decoded by the schemas that the program registered.

Layout of schemas, entries and type codes: NVTX payload extension. Types whose size depends on the
platform have their size on 64-bit Linux."""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from .reader import TableReader

SCHEMAS: Final = "NVTX_PAYLOAD_SCHEMAS"
ENTRIES: Final = "NVTX_PAYLOAD_SCHEMA_ENTRIES"
ENUMS: Final = "NVTX_PAYLOAD_ENUMS"
ENUM_ENTRIES: Final = "NVTX_PAYLOAD_ENUM_ENTRIES"

Json = str | int | float | list["Json"] | dict[str, "Json"]
Key = tuple[int, int]
"""(domain, schema id)."""

_HEADER: Final = struct.Struct("<QQQQ")
"""Domain, schema, size of the payload, and where it is or ends: one payload follows at once."""
_NUMBERS: Final = {
    **dict.fromkeys((2, 12), "B"),
    **dict.fromkeys((3, 13), "h"),
    **dict.fromkeys((4, 14), "H"),
    **dict.fromkeys((5, 15), "i"),
    **dict.fromkeys((6, 16, 68, 73), "I"),
    **dict.fromkeys((7, 9, 17), "q"),
    **dict.fromkeys((8, 10, 18, 22, 70, 74), "Q"),
    11: "b",
    **dict.fromkeys((19, 43), "f"),
    **dict.fromkeys((20, 44), "d"),
    42: "e",
}
_CHARACTERS: Final = (1, 25)
_TEXTS: Final = (75, 76)
_STATIC: Final = 1
_POINTER: Final = 1 << 1
_ARRAY: Final = 7 << 4
_FIXED_ARRAY: Final = 1 << 4
_DEEPEST: Final = 8
_MOST_ELEMENTS: Final = 64
_MOST_RAW_BYTES: Final = 64
_ENUM_FORMATS: Final = {1: "b", 2: "h", 4: "i", 8: "q"}


class PayloadError(Exception):
    """A payload that cannot be decoded; the text is the reason to count it under."""


@dataclass(slots=True)
class _Entry:
    type: int
    flags: int
    name: str
    detail: int
    offset: int | None


@dataclass(slots=True)
class _Schema:
    name: str | None
    type: int
    size: int
    entries: dict[int, _Entry] = field(default_factory=dict[int, _Entry])


@dataclass(slots=True)
class _Enum:
    size: int
    names: dict[int, str] = field(default_factory=dict[int, str])


class PayloadSchemas:
    """The schemas and enumerations of an export."""

    def __init__(self, schemas: Mapping[Key, _Schema], enums: Mapping[Key, _Enum]) -> None:
        self._schemas = schemas
        self._enums = enums

    def decode(self, data: bytes) -> Json:
        """The payload in `data` as the fields of its schema, by name. PayloadError when it cannot
        be decoded."""
        if len(data) < _HEADER.size:
            raise PayloadError("layout")
        domain, schema_id, size, place = _HEADER.unpack_from(data)
        body = data[_HEADER.size :]
        if size != len(body) or place not in (_HEADER.size, len(data)):
            raise PayloadError("layout")
        schema = self._schemas.get((domain, schema_id))
        if schema is None or not schema.entries:
            raise PayloadError("no_schema")
        fields = self._fields(domain, schema, body, 0)
        return fields if schema.name is None else {schema.name: fields}

    def _fields(self, domain: int, schema: _Schema, body: bytes, depth: int) -> Json:
        if schema.type != _STATIC or depth > _DEEPEST:
            raise PayloadError("unsupported_schema")
        if schema.size > len(body):
            raise PayloadError("layout")
        entries = [entry for _, entry in sorted(schema.entries.items())]
        starts = self._offsets(domain, entries)
        found: dict[str, Json] = {}
        for index, (entry, start) in enumerate(zip(entries, starts, strict=True)):
            if not 0 <= start < len(body):
                raise PayloadError("layout")
            end = min((other for other in starts if other > start), default=len(body))
            name = entry.name or f"field {index}"
            found[name] = self._value(domain, entry, body[start:], end - start, depth)
        return found

    def _offsets(self, domain: int, entries: Sequence[_Entry]) -> list[int]:
        """Where the entries begin: as recorded, else aligned behind the one before."""
        starts: list[int] = []
        free = 0
        for entry in entries:
            size = self._size(domain, entry.type) or 1
            start = entry.offset if entry.offset is not None else -(-free // size) * size
            starts.append(start)
            free = start + size * (entry.detail if entry.flags & _ARRAY else 1)
        return starts

    def _size(self, domain: int, kind: int) -> int | None:
        """Bytes of one value; None for a type that is not known."""
        if kind in _NUMBERS:
            return struct.calcsize(_NUMBERS[kind])
        if kind in _CHARACTERS:
            return 1
        key = (domain, kind)
        if key in self._enums:
            return self._enums[key].size
        return self._schemas[key].size if key in self._schemas else None

    def _value(self, domain: int, entry: _Entry, body: bytes, room: int, depth: int) -> Json:
        """`room`: bytes until the next entry, shown as they are where the type is not known."""
        size = self._size(domain, entry.type)
        array = entry.flags & _ARRAY
        is_text = entry.type in _TEXTS or entry.type in _CHARACTERS
        embedded = not entry.flags & _POINTER and array in (0, _FIXED_ARRAY)
        if embedded and is_text and (entry.detail or size):
            return _text(body[: entry.detail or 1])
        if not embedded or not size:
            return f"0x{body[: min(room, _MOST_RAW_BYTES)].hex()}"
        if not array:
            return self._single(domain, entry.type, body[:size], depth)
        length = min(entry.detail, _MOST_ELEMENTS)
        if length * size > len(body):
            raise PayloadError("layout")
        return [
            self._single(domain, entry.type, body[at : at + size], depth)
            for at in range(0, length * size, size)
        ]

    def _single(self, domain: int, kind: int, value: bytes, depth: int) -> Json:
        """A value of known size."""
        if len(value) != self._size(domain, kind):
            raise PayloadError("layout")
        if kind in _NUMBERS:
            number: int | float = struct.unpack(f"<{_NUMBERS[kind]}", value)[0]
            return number if number - number == 0 else str(number)  # JSON has no nan
        enum = self._enums.get((domain, kind))
        if enum is not None:
            code: int = struct.unpack(f"<{_ENUM_FORMATS[enum.size]}", value)[0]
            return enum.names.get(code, code)
        return self._fields(domain, self._schemas[domain, kind], value, depth + 1)


def _text(value: bytes) -> str:
    return value.split(b"\0", 1)[0].decode("utf-8", "replace")


def read_schemas(reader: TableReader) -> PayloadSchemas:
    """All registered schemas; none when the tables are absent. Processes register the same ones:
    the first of each id counts."""
    return PayloadSchemas(_read_schemas(reader), _read_enums(reader))


def _read_schemas(reader: TableReader) -> dict[Key, _Schema]:
    schemas: dict[Key, _Schema] = {}
    table = reader.find(SCHEMAS, ("domainId", "schemaId"))
    if table is None:
        return schemas
    rows = reader.read(
        table,
        {
            **dict.fromkeys(("domainId", "schemaId", "type", "payloadSize"), "i64"),
            "name": "text",
        },
    )
    records = rows.records("domainId", "schemaId", "type", "payloadSize")
    for (domain, schema, kind, size), name in zip(records, rows.texts("name"), strict=True):
        if domain is not None and schema is not None:
            schemas.setdefault(
                (domain, schema), _Schema(name, _STATIC if kind is None else kind, size or 0)
            )
    reader.account.leave_out(table, "repeated", rows.count - len(schemas))
    table = reader.find(ENTRIES, ("domainId", "schemaId", "idx"))
    if table is None:
        return schemas
    numbers = ("domainId", "schemaId", "idx", "type", "flags", "arrayOrUnionDetail", "offset")
    rows = reader.read(table, {**dict.fromkeys(numbers, "i64"), "name": "text"})
    used = 0
    for record, name in zip(rows.records(*numbers), rows.texts("name"), strict=True):
        domain, schema, index, kind, flags, detail, offset = record
        known = schemas.get((domain or 0, schema or 0))
        if known is None or index is None or index in known.entries:
            continue
        start = 0 if index == 0 and offset is None else offset
        known.entries[index] = _Entry(kind or 0, flags or 0, name or "", detail or 0, start)
        used += 1
    reader.account.leave_out(table, "repeated", rows.count - used)
    return schemas


def _read_enums(reader: TableReader) -> dict[Key, _Enum]:
    enums: dict[Key, _Enum] = {}
    table = reader.find(ENUMS, ("domainId", "schemaId"))
    if table is None:
        return enums
    columns = ("domainId", "schemaId", "size")
    rows = reader.read(table, dict.fromkeys(columns, "i64"))
    for domain, schema, size in rows.records(*columns):
        if domain is not None and schema is not None and (size or 4) in _ENUM_FORMATS:
            enums.setdefault((domain, schema), _Enum(size or 4))
    reader.account.leave_out(table, "repeated", rows.count - len(enums))
    table = reader.find(ENUM_ENTRIES, ("domainId", "schemaId", "value", "name"))
    if table is None:
        return enums
    columns = ("domainId", "schemaId", "value")
    rows = reader.read(table, {**dict.fromkeys(columns, "i64"), "name": "text"})
    used = 0
    for (domain, schema, value), name in zip(
        rows.records(*columns), rows.texts("name"), strict=True
    ):
        known = enums.get((domain or 0, schema or 0))
        if known is None or value is None or name is None or value in known.names:
            continue
        known.names[value] = name
        used += 1
    reader.account.leave_out(table, "repeated", rows.count - used)
    return enums
