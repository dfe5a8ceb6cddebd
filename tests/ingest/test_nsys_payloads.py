"""Payloads of NVTX events: numbers, and binary data that is decoded by registered schemas."""

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from dctx.demo_data.nsys_export import ExportWriter, Value, global_tid
from dctx.ingest.registry import open_trace

NVTX = "NVTX_EVENTS"
TID = global_tid(1, 1)
DOMAIN = 1
REDUCE, ENUM, NESTED, UNION = 16777223, 16777232, 16777300, 16777301


def event(export: ExportWriter, start: int, **values: Value) -> None:
    export.add(NVTX, start=start, end=start + 5, eventType=59, globalTid=TID, text="op", **values)


def blob(schema: int, body: bytes, *, domain: int = DOMAIN, place: int = 32) -> bytes:
    return struct.pack("<QQQQ", domain, schema, len(body), place) + body


def schema(
    export: ExportWriter,
    schema_id: int,
    size: int,
    *entries: dict[str, Value],
    kind: int = 1,
    name: str | None = None,
) -> None:
    export.add(
        "NVTX_PAYLOAD_SCHEMAS",
        domainId=DOMAIN,
        schemaId=schema_id,
        name=name,
        type=kind,
        numEntries=len(entries),
        payloadSize=size,
    )
    for index, entry in enumerate(entries):
        row: dict[str, Value] = {"domainId": DOMAIN, "schemaId": schema_id, "idx": index, **entry}
        export.add("NVTX_PAYLOAD_SCHEMA_ENTRIES", **row)


def nccl(export: ExportWriter) -> None:
    schema(
        export,
        REDUCE,
        24,
        {"type": 18, "name": "NCCL communicator ID"},
        {"type": 22, "name": "Message size [bytes]", "offset": 8},
        {"type": ENUM, "name": "Reduction operation", "offset": 16},
    )


def read(path: Path) -> tuple[list[tuple[int, Any]], dict[str, str], list[str]]:
    """(start, payload) of the events that have one, the facts, and the notes."""
    store = open_trace(path, cache=False)
    with store.cursor() as cursor:
        payloads = cursor.execute(
            """SELECT h.start_ns, s.text FROM event_payload p JOIN host_event h ON h.id = p.event
               JOIN string s ON s.id = p.json ORDER BY h.start_ns"""
        ).fetchall()
        facts = dict(cursor.execute("SELECT key, value FROM trace").fetchall())
        notes = [text for (text,) in cursor.execute("SELECT text FROM note").fetchall()]
    store.close()
    return [(start, json.loads(text)) for start, text in payloads], facts, notes


def test_binary_data_is_decoded_by_its_schema(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    body = struct.pack("<QQIxxxx", 2**63 + 5, 4096, 1)
    with ExportWriter(path) as export:
        nccl(export)
        nccl(export)  # the other process registers the same
        export.add("NVTX_PAYLOAD_ENUMS", domainId=DOMAIN, schemaId=ENUM, numEntries=2, size=4)
        for value, name in enumerate(("Sum", "Product")):
            row: dict[str, Value] = {"domainId": DOMAIN, "schemaId": ENUM, "idx": value}
            export.add("NVTX_PAYLOAD_ENUM_ENTRIES", value=value, name=name, **row)
        event(export, 0)
        event(export, 10, binaryData=blob(REDUCE, body))
        event(export, 20, binaryData=blob(REDUCE, body).hex())
        event(export, 30, binaryData=blob(REDUCE, body, place=56))
    payloads, facts, notes = read(path)
    fields = {
        "NCCL communicator ID": 2**63 + 5,
        "Message size [bytes]": 4096,
        "Reduction operation": "Product",
    }
    assert payloads == [(10, fields), (20, fields), (30, fields)]
    assert facts["unused.NVTX_PAYLOAD_SCHEMAS.repeated"] == "1"
    assert facts["unused.NVTX_PAYLOAD_SCHEMA_ENTRIES.repeated"] == "3"
    assert not any("payload" in note for note in notes)


def test_a_value_of_a_type_that_is_not_recorded_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        nccl(export)
        event(export, 10, binaryData=blob(REDUCE, struct.pack("<QQIxxxx", 7, 8, 1)))
    payloads, _, _ = read(path)
    assert payloads == [
        (
            10,
            {
                "NCCL communicator ID": 7,
                "Message size [bytes]": 8,
                "Reduction operation": "0x0100000000000000",
            },
        )
    ]


def test_numbers_texts_arrays_and_nested_schemas(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        schema(export, NESTED, 4, {"type": 3, "name": "x"}, {"type": 3, "name": "y"})
        schema(
            export,
            REDUCE,
            40,
            {"type": 11, "name": "byte"},
            {"type": 20, "name": "real"},
            {"type": 76, "name": "text", "arrayOrUnionDetail": 8, "offset": 16},
            {"type": 5, "flags": 1 << 4, "arrayOrUnionDetail": 2, "name": "array", "offset": 24},
            {"type": NESTED, "offset": 32},
            {"type": 76, "flags": 2, "name": "pointer", "offset": 36},
            name="Shape",
        )
        body = struct.pack("<bxxxxxxxd8siihh4s", -2, 0.5, b"abc", 3, -4, 5, -6, b"\1\2\3\4")
        event(export, 10, binaryData=blob(REDUCE, body))
        event(
            export,
            20,
            binaryData=blob(REDUCE, body.replace(struct.pack("<d", 0.5), struct.pack("<d", 1e999))),
        )
    payloads, _, _ = read(path)
    fields = {
        "byte": -2,
        "real": 0.5,
        "text": "abc",
        "array": [3, -4],
        "field 4": {"x": 5, "y": -6},
        "pointer": "0x01020304",
    }
    assert payloads == [(10, {"Shape": fields}), (20, {"Shape": {**fields, "real": "inf"}})]


def test_what_cannot_be_decoded_is_counted_by_reason(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    body = bytes(24)
    with ExportWriter(path) as export:
        nccl(export)
        schema(export, UNION, 8, {"type": 18, "name": "a"}, kind=3)
        schema(export, NESTED, 8, {"type": 5, "name": "beyond", "offset": 6})
        for start, data in enumerate(
            [
                blob(REDUCE, body, domain=2),
                blob(12345, body),
                blob(12345, body),
                b"",
                b"short",
                blob(REDUCE, body)[:-1],
                blob(REDUCE, body) + blob(REDUCE, body),
                blob(REDUCE, body, place=40),
                blob(REDUCE, bytes(8)),
                blob(UNION, bytes(8)),
                blob(NESTED, bytes(8)),
            ]
        ):
            event(export, start, binaryData=data)
    payloads, facts, notes = read(path)
    assert payloads == []
    assert {k: v for k, v in facts.items() if k.startswith("payload_")} == {
        f"payload_no_schema.{NVTX}": "3",
        f"payload_layout.{NVTX}": "7",
        f"payload_unsupported_schema.{NVTX}": "1",
    }
    assert [note for note in notes if "payload" in note] == [
        f"{NVTX}: payloads that are not shown: 3 with no registered schema, 7 with a layout that "
        "is not known, 1 with a schema of a kind that is not supported."
    ]
    assert facts[f"used.{NVTX}"] == "11"


@pytest.mark.parametrize(
    ("column", "stored", "shown"),
    [
        ("uint64Value", -1, 2**64 - 1),
        ("int64Value", -1, -1),
        ("uint32Value", 2**31, 2**31),
        ("int32Value", -7, -7),
        ("doubleValue", 0.1, 0.1),
        ("floatValue", 0.0, 0.0),
        ("int64Value", 0, 0),
    ],
)
def test_a_number_is_a_payload(
    tmp_path: Path, column: str, stored: Value, shown: int | float
) -> None:
    path = tmp_path / "t.sqlite"
    with ExportWriter(path) as export:
        event(export, 0)
        event(export, 10, **{column: stored})
        event(export, 20, jsonText='{"size": 1}', **{column: stored})
    payloads, _, _ = read(path)
    assert payloads == [(10, shown), (20, {"size": 1})]


def test_members_that_old_exporters_filled_with_zeros_are_no_payload(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    union = ("uint64Value", "int64Value", "doubleValue", "uint32Value", "int32Value", "floatValue")
    zeros: dict[str, Value] = dict.fromkeys(union, 0)
    with ExportWriter(path) as export:
        event(export, 0, **zeros)
        event(export, 10, **{**zeros, "int32Value": 5})
    payloads, _, _ = read(path)
    assert payloads == [(10, 5)]
