"""Damaged and odd trace-event JSON: one bad event never costs another, and what was odd is told."""

import json

import pytest

from tests.scan.trace_json import Scanned, event, scan

FIRST = '{"ph": "X", "name": "first", "pid": 1, "tid": 1, "ts": 1, "dur": 1}'
LAST = '{"ph": "X", "name": "last", "pid": 1, "tid": 1, "ts": 9, "dur": 1}'


def around(middle: str, *, indented: bool = False) -> Scanned:
    """Two good events and something between them, in an object."""
    if indented:
        first, last = (text.replace(", ", ",\n    ") for text in (FIRST, LAST))
        return scan(
            f'{{\n  "traceEvents": [\n  {first},\n  {middle},\n  {last}\n  ],\n  "k": 1\n}}\n'
        )
    return scan(f'{{"traceEvents":[{FIRST},{middle},{LAST}],"k":1}}')


def named(name: str, args: str = "") -> str:
    rest = f', "args": {{{args}}}' if args else ""
    return (
        f'{{"ph": "X", "name": "{name}", "cat": "c", "pid": 1, "tid": 1, "ts": 5, "dur": 1{rest}}}'
    )


@pytest.mark.parametrize("indented", [False, True])
@pytest.mark.parametrize(
    ("middle", "name", "args"),
    [
        (named('say "hi" twice'), 'say "hi" twice', None),
        (named('"'), '"', None),
        (named("n", r'"path": "a "b" c", "k": 2'), "n", {"path": 'a "b" c', "k": 2}),
        (
            named("n", '"list": ["x", "a "quoted" y", ["deep "er""]], "k": 2'),
            "n",
            {"list": ["x", 'a "quoted" y', ['deep "er"']], "k": 2},
        ),
        (named("n", r'"dir": "C:\temp\"'), "n", {"dir": "C:\\temp\\"}),
    ],
)
def test_unescaped_quotes(middle: str, name: str, args: object, indented: bool) -> None:
    if middle.count("\\t"):  # a tab is what the escape says
        args = {"dir": "C:\temp\\"}
    found = around(middle, indented=indented)
    assert found.names("other") == ["first", name, "last"]
    row = found.rows("other")[1]
    assert json.loads(row.get("args", "null")) == args
    assert row["flags"] == 8
    assert found.report == {"recovered": 1}
    assert found.scan.metadata == {"k": "1"}


@pytest.mark.parametrize(
    "garbage",
    [
        "{garbage}",
        '{"ph": "X", "name": "cut',
        '{"ph": "X", "name": "cut}',
        '{"ph": "X", "name": "n", "args": {"a": [1, 2}',
        '{"ph": "X", "name": "n", "args": {"a": {"b": 1}',
        "@@@@",
        '{"ph": "X" "name" 1}',
    ],
)
@pytest.mark.parametrize("indented", [False, True])
def test_garbage_costs_only_itself(garbage: str, indented: bool) -> None:
    found = around(garbage, indented=indented)
    names = found.names("other")
    assert (names[0], names[-1]) == ("first", "last")
    assert set(found.report) <= {"lost", "recovered", "no_ts", "missing_field", "unclosed"}
    assert found.report.get("lost", 0) + found.report.get("recovered", 0) >= 1
    assert found.scan.metadata == {"k": "1"}


def test_two_damaged_events_in_a_row() -> None:
    found = around("{bad}," + named('a "b" c') + ",{worse")
    assert found.names("other") == ["first", 'a "b" c', "last"]
    assert found.report["recovered"] == 1


def test_the_last_event_damaged_keeps_the_envelope() -> None:
    found = scan(f'{{"traceEvents": [{FIRST}, {{"ph": "X", "name": ], "traceName": "t"}}')
    assert found.names("other") == ["first"]
    assert found.scan.metadata == {"traceName": '"t"'}
    assert found.report == {"lost": 1}


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("a\nb", "a\nb"),
        ("a\tb\x1b[0m", "a\tb\x1b[0m"),
        (r"C:\dir\File", r"C:\dir\File"),
        (r"\q", r"\q"),
    ],
)
def test_strings_that_json_does_not_allow(body: str, text: str) -> None:
    found = around(named(body))
    expected = text.replace("\\File", "\x0cile") if "\\f" in body else text
    assert found.names("other")[1] == expected
    assert found.report == {"recovered": 1}


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (rb"x\ud800y", "x\ufffdy"),
        (rb"x\u12G4", "x\ufffdG4"),
        (rb"a\u0000b", "a\ufffdb"),
        (b"a\xffb\xc3", "a\ufffdb\ufffd"),
    ],
)
def test_text_that_has_no_characters(body: bytes, text: str) -> None:
    data = b'[{"ph":"X","ts":1,"dur":1,"pid":1,"tid":1,"name":"' + body + b'"}]'
    found = scan(data)
    assert found.names("other") == [text]
    assert found.report == {"repaired_text": 1}


def test_escapes() -> None:
    text = 'q" b\\ s/ \b\f\n\r\t é 😀 \ue000'
    assert scan([event(name=text)]).names("other") == [text]
    assert scan(json.dumps([event(name=text)], ensure_ascii=False)).names("other") == [text]


@pytest.mark.parametrize("word", ["inf", "-inf", "nan", "NaN", "Infinity", "-Infinity", "N/A"])
@pytest.mark.parametrize("key", ["memory bandwidth (GB/s)", "bytes", "blocks per SM", "x"])
def test_numbers_that_are_none(word: str, key: str) -> None:
    common = '"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":1'
    data = f'[{{{common},"args":{{"{key}": {word}}}}}]'
    found = scan(data)
    (row,) = found.rows("gpu")
    assert "bytes" not in row
    assert row.get("args") == ('{"x":null}' if key == "x" else None)
    assert found.report == {"non_finite": 1}


def test_numbers_as_strings() -> None:
    found = scan(
        [
            event(
                cat="kernel",
                ts=" 12.5",
                dur="1",
                pid="1",
                tid="2",
                args={"correlation": "77", "device": "0x1f", "context": "three"},
            )
        ]
    )
    (row,) = found.rows("gpu")
    assert (row["ts_ns"], row["dur_ns"], row["corr"], row["device"]) == (12_500, 1_000, 77, 31)
    assert row["args"] == '{"context":"three"}'
    assert found.report == {"coerced": 4}


def test_integers_beyond_their_column() -> None:
    found = scan(
        [
            event(
                cat="kernel",
                pid=2**63 - 1,
                tid=2**64 - 1,
                args={"correlation": 2**64 - 1, "stream": 2**70, "device": 2**40},
            )
        ]
    )
    (row,) = found.rows("gpu")
    assert row["corr"] == -1
    assert "stream" not in row
    assert "device" not in row
    assert found.rows("lane")[0]["tid"] == str(2**64 - 1)
    assert found.report == {"wide_int": 3}


def test_the_last_of_equal_keys_counts() -> None:
    data = (
        '[{"ph":"X","name":"a","name":"b","pid":1,"tid":1,"ts":1,"ts":2,"dur":1,"cat":"cpu_op",'
        '"args":{"gone":1},"args":{"x":1,"External id":3,"x":2,"External id":4}}]'
    )
    found = scan(data)
    (row,) = found.rows("op")
    assert (row["name"], row["ts_ns"], row["ext_id"], row["args"]) == ("b", 2_000, 4, '{"x":2}')
    assert found.report == {"dup_key": 5}


def test_elements_that_are_no_events() -> None:
    found = scan(f'[{{}}, null, 3, "text", {FIRST}, true, {LAST}]')
    assert found.names("other") == ["first", "last"]
    assert [row["seq"] for row in found.rows("other")] == [4, 6]
    assert found.report == {"empty_element": 5}


@pytest.mark.parametrize(
    ("data", "report"),
    [
        (f"[{FIRST},{LAST},]", {}),
        (f"[{FIRST} {LAST}]", {}),
        (f"[{FIRST},{LAST}", {"unclosed": 1}),
        (f"[{FIRST},{LAST},", {"unclosed": 1}),
        (f'{{"traceEvents":[{FIRST},{LAST}}}', {"unclosed": 1}),
        (f'{{"traceEvents":[{FIRST},{LAST}', {"unclosed": 1}),
        (f'{{"traceEvents":[{FIRST},{LAST}, "traceName": "t"}}', {"unclosed": 1}),
        (f'{{"traceEvents":[{FIRST[:-1]},}},{LAST}]}}', {"unclosed": 1}),
        (f"[{FIRST},{LAST},{FIRST[:30]}", {"truncated": 1}),
        (f'[{FIRST},{LAST},{{"ph": "X", "name": "a\\', {"truncated": 1}),
    ],
)
def test_brackets_and_commas(data: str, report: dict[str, int]) -> None:
    found = scan(data)
    assert found.names("other") == ["first", "last"]
    assert found.report == report


@pytest.mark.parametrize(
    ("data", "layout"),
    [
        (f"[{FIRST},{LAST}]", "list"),
        (f"\ufeff \r\n[{FIRST},\r\n{LAST}]\r\n", "list"),
        (f'{{"traceEvents":[{FIRST},{LAST}]}}', "object"),
        (f'{{"traceEvents":[{FIRST}]}}{{"traceEvents":[{LAST}]}}', "object"),
        (f"[{FIRST}][{LAST}]", "list"),
        (f"{FIRST}\n{LAST}\n", "lines"),
        (f"\ufeff{FIRST}\r\n{LAST}", "lines"),
        (
            f'{{"other": {{"traceEvents": [{{"ph": "X", "name": "no", "ts": 1}}]}},'
            ' "s": "\\"traceEvents\\": [",'
            f' "traceEvents": [{FIRST}, {LAST}]}}',
            "object",
        ),
        (f'{{"traceEvents": null, "x": 1, "traceEvents": [{FIRST},{LAST}]}}', "object"),
    ],
)
def test_layouts(data: str, layout: str) -> None:
    found = scan(data)
    assert found.names("other") == ["first", "last"]
    assert found.scan.layout == layout
    assert found.report == {}


@pytest.mark.parametrize(
    "damaged",
    [
        LAST.replace('"ph"', 'ph"'),
        LAST.replace('"ph"', '"p'),
        LAST.replace('{"ph":', "{"),
        LAST.replace('{"ph":', '{"":'),
        LAST.replace('{"ph"', '{{"ph"'),
        LAST.replace('{"ph": "X"', '{"ph" "X'),
    ],
)
@pytest.mark.parametrize("piece", [None, 7])
def test_a_line_whose_first_key_is_damaged_costs_no_other(damaged: str, piece: int | None) -> None:
    good = [FIRST, named("second"), LAST]
    text = "\n".join([FIRST, damaged, *good[1:], damaged, *good, ""])
    found = scan(text, None if piece is None else [piece] * len(text))
    assert found.scan.layout == "lines"
    names = [name for name in found.names("other") if name != "last"]
    assert names == ["first", "second", "first", "second"]
    # The damaged ones may be guessed at; then they are told.
    guessed = found.report.get("recovered", 0)
    assert found.names("other").count("last") == 2 + guessed
    told = guessed + found.report.get("lost", 0) + found.report.get("bad_phase", 0)
    assert told >= 2


@pytest.mark.parametrize(
    "data",
    [
        "",
        "  \n",
        "{}",
        "[]",
        '{"nodes": [1, {"a": []}], "schema": "chakra"}',
        '{"traceEvents": []}',
        "[{}]",
        "null",
        "\x00\x00",
        "]]}}",
    ],
)
def test_files_without_events(data: str) -> None:
    found = scan(data)
    assert found.scan.events == 0
    assert all(found.scan.rows(table) == 0 for table in found.scan.tables())


def test_the_envelope_in_any_order() -> None:
    found = scan(
        f'{{"deviceProperties": [ {{ "id": 0, "name": "H\\u00e9" }} ], "traceEvents": [{FIRST}],'
        ' "baseTimeNanoseconds": 1775078550000000000, "INFO": ["a "b" c", inf],'
        ' "trace_id": "x", "trace_id": "y"}'
    )
    read = {key: json.loads(text or "") for key, text in found.scan.metadata.items()}
    assert read == {
        "deviceProperties": [{"id": 0, "name": "Hé"}],
        "baseTimeNanoseconds": 1775078550000000000,
        "INFO": ['a "b" c', None],
        "trace_id": "y",
    }
    assert found.report == {"recovered": 1}


def test_an_unreadable_value_of_the_envelope() -> None:
    found = scan(f'{{"schemaVersion": 1, "x": @@, "y": }}, "traceEvents": [{FIRST}, {LAST}]}}')
    assert found.names("other") == ["first", "last"]
    assert found.report["bad_metadata"] >= 1


def test_long_values_of_the_envelope_are_not_kept() -> None:
    frames = json.dumps({"frames": ["x" * 100, "]}{["] * 20_000})
    data = f'{{"stackFrames": {frames}, "k": "v", "traceEvents": [{FIRST}]}}'
    found = scan(data.encode(), pieces=[50_000] * 100)
    assert found.scan.metadata == {"stackFrames": None, "k": '"v"'}
    assert found.names("other") == ["first"]


def test_times_that_cannot_be() -> None:
    found = scan(
        [
            event(name="none") | {"ts": None},
            {"ph": "X", "name": "missing", "pid": 1, "tid": 1},
            event(name="far", ts=9.3e15),
            event(name="word", ts="soon"),
            event(name="negative", ts=-1.5, dur=-3),
            event(name="no dur") | {"dur": None},
            {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "kept"}},
        ]
    )
    assert [
        (row["name"], row["ts_ns"], row["dur_ns"], row["flags"]) for row in found.rows("other")
    ] == [
        ("negative", -1_500, 0, 2),
        ("no dur", 10_000, 0, 1),
    ]
    assert found.scan.rows("meta") == 1
    assert found.report == {"no_ts": 2, "bad_time": 2, "neg_dur": 1, "missing_field": 2}


def test_missing_fields() -> None:
    found = scan([{"ph": "X", "ts": 1, "dur": 1}])
    (row,) = found.rows("other")
    assert (row["name"], row["flags"]) == ("(no name)", 4)
    assert found.rows("lane") == [{"side": 0, "pid": "", "tid": ""}]
    assert found.report == {"missing_field": 1}


def test_fields_of_other_types() -> None:
    found = scan([event(name=7, cat=["a", 1], args=[1, {"b": 2}]), event(ph=3)])
    (row,) = found.rows("other")
    assert (row["name"], row["cat"], row["args"]) == ("7", '["a",1]', '{"args":[1,{"b":2}]}')
    assert found.scan.phases == {"X": 1, "3": 1}
    assert found.report == {"odd_type": 2, "bad_phase": 1}


def test_phases_that_are_not_read() -> None:
    found = scan([event(ph=ph) for ph in "PONDvVc()"] + [event(ph="long"), {"name": "n", "ts": 1}])
    assert found.report == {"bad_phase": 11}
    assert found.scan.phases == {**dict.fromkeys("PONDvVc()", 1), "long": 1, "": 1}


def test_an_event_nested_too_deep_or_too_long() -> None:
    deep = named("deep", '"a": ' + "[" * 10_000 + "]" * 10_000)
    found = around(deep)
    assert found.names("other") == ["first", "last"]
    assert found.report == {"too_big": 1}
    allowed = named("n", '"a": ' + "[" * 62 + "]" * 62)
    assert around(allowed).report == {}
    data = f"[{FIRST},{named('x' * 200_000)},{LAST}]".encode()
    found = scan(data, pieces=[10_000] * 50, max_event_bytes=50_000)
    assert found.names("other") == ["first", "last"]
    assert found.report == {"too_big": 1}


def test_a_string_that_never_ends_costs_no_event_behind_it() -> None:
    open_string = '{"ph": "X", "name": "open, "ts": 1'
    events = ",\n".join([FIRST, open_string, *[LAST] * 1_000])
    found = scan(f"[{events}]".encode(), pieces=[777] * 1_000)
    assert found.names("other").count("last") == 1_000
    assert found.report["lost"] == 1


def test_distinct_texts_are_bounded() -> None:
    events = [
        event(cat="cpu_op", name=f"n{i}", args={"x": i, "Input Dims": [i]}) for i in range(100)
    ]
    found = scan(events, max_texts=10)
    rows = found.rows("op")
    assert len(rows) == 100
    assert rows[0]["args"] == '{"x":0}'
    assert "args" not in rows[50]
    assert rows[-1]["name"] == "(too many distinct texts)"
    assert found.report["text_cap"] > 100
    assert len(found.strings) < 50


def test_many_categories() -> None:
    found = scan([event(cat=f"cat {i}") for i in range(100_000)])
    assert found.scan.rows("other") == 100_000
    assert len(found.scan.categories) == 100_000


def test_where_it_was() -> None:
    data = f"[{FIRST},{{bad}},{LAST},{{}}]"
    found = scan(data)
    assert found.scan.report == {
        "lost": (1, (data.index("{bad}"),)),
        "empty_element": (1, (data.index("{}"),)),
    }
    many = scan("[" + "{}," * 50 + "]").scan.report["empty_element"]
    assert many == (50, tuple(range(1, 61, 3)))


@pytest.mark.parametrize(
    ("ts", "ns"),
    [
        ("12", 12_000),
        ("12.3", 12_300),
        ("12.345678", 12_346),
        ("0.0005", 1),
        ("0.0004999", 0),
        ("9.9999999999999995e-07", 0),
        ("1e-06", 0),
        ("5e-4", 1),
        ("-1.5", -1_500),
        ('"+1"', 1_000),
        ('".5"', 500),
        ('" 7.25 "', 7_250),
        ("1712195495527376.234", 1712195495527376234),
        ("1712195495527376.2345", 1712195495527376235),
        ("1.5e3", 1_500_000),
        ("1E+2", 100_000),
        ("123456.78901234567", 123_456_789),
        ("9200000000000000", 9_200_000_000_000_000_000),
    ],
)
def test_times_are_exact(ts: str, ns: int) -> None:
    data = f'[{{"ph":"X","name":"n","pid":1,"tid":1,"ts":{ts},"dur":0}}]'
    assert scan(data).rows("other")[0]["ts_ns"] == ns


def test_ends_are_rounded_not_lengths() -> None:
    """Neighbours stay neighbours: 1.0004 + 0.0004 ends at 1.001, where the next begins."""
    data = (
        '[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1.0004,"dur":0.0004},'
        '{"ph":"X","name":"b","pid":1,"tid":1,"ts":1.0008,"dur":0.0004}]'
    )
    first, second = scan(data).rows("other")
    assert first["ts_ns"] + first["dur_ns"] == second["ts_ns"] == 1_001


@pytest.mark.parametrize(("ts", "fraction"), [("1", 0), ("1.250", 1), ("1.5", 1), ("1.251", 2)])
def test_how_fine_the_times_are(ts: str, fraction: int) -> None:
    data = f'[{{"ph":"X","name":"n","pid":1,"tid":1,"ts":{ts},"dur":3}}]'
    assert scan(data).scan.ts_fraction == fraction
