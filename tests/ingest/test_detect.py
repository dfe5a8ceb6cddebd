"""What the first bytes of a file tell, and the sentence for each file that is no trace."""

import json
import os
import pickle
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from dctx.ingest.detect import Content, Refusal, container_of, detect, sqlite_content, undecided
from dctx.ingest.json_head import look

EVENT = {"ph": "X", "name": "mm", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 1, "dur": 2}
PLAIN = {"ph": "X", "name": "work", "pid": 1, "tid": 1, "ts": 1, "dur": 2}
NOTHING: list[object] = []
HATCHET = [{"frame": {"name": "ROOT", "type": "function"}, "metrics": {}, "children": NOTHING}, {}]


def text(value: object, **options: int) -> bytes:
    return json.dumps(value, **options).encode()  # type: ignore[arg-type]


def varint(value: int) -> bytes:
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number: int, payload: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(payload)) + payload


PLANE = field(2, b"/host:CPU") + field(3, b"")

TRACES: dict[str, tuple[bytes, Content]] = {
    "kineto": (text({"schemaVersion": 1, "traceEvents": [PLAIN]}), Content.KINETO),
    "kineto, keys behind the events": (
        text({"traceEvents": [PLAIN], "traceName": "x"}),
        Content.KINETO,
    ),
    "kineto, told by a category": (text({"traceEvents": [PLAIN, EVENT]}), Content.KINETO),
    "kineto list": (text([PLAIN, EVENT]), Content.KINETO),
    "kineto without events": (text({"schemaVersion": 1, "deviceProperties": []}), Content.KINETO),
    "byte order mark, CRLF": (
        b"\xef\xbb\xbf"
        + text({"schemaVersion": 1, "traceEvents": []}, indent=1).replace(b"\n", b"\r\n"),
        Content.KINETO,
    ),
    "chrome": (text({"traceEvents": [PLAIN], "displayTimeUnit": "ms"}), Content.CHROME),
    "chrome list": (text([PLAIN]), Content.CHROME),
    "chrome list, args first": (text([{"args": {"frame": 1}, **PLAIN}]), Content.CHROME),
    "chrome list behind {}": (b"[ {}\n,{}, " + text(PLAIN) + b"]", Content.CHROME),
    "chrome list, cut": (b"[" + text(PLAIN) + b',\n{"name": "x', Content.CHROME),
    "no events at all": (b'{"traceEvents": []}', Content.CHROME),
    "an empty list": (b" [ ] ", Content.CHROME),
    "events that are null": (b'{"traceEvents": null}', Content.CHROME),
    "JSON lines": (text(PLAIN) + b"\n" + text(PLAIN), Content.CHROME),
    "jax": (
        text(
            {
                "traceEvents": [
                    {"ph": "M", "pid": 7, "name": "process_name", "args": {"name": "/host:CPU"}}
                ]
            }
        ),
        Content.JAX_TRACE,
    ),
    "rocprof v1": (
        text({"otherData": {}, "traceEvents": [{}, {**PLAIN, "args": {"BeginNs": "1"}}]}),
        Content.ROCPROF_V1,
    ),
    "rocprofv3": (b'{"rocprofiler-sdk-tool": [{"metadata": {"node": {', Content.ROCPROFV3),
    "hatchet": (text(HATCHET), Content.PROTON),
    "hatchet, sorted and cut": (b'\n[\n  {\n    "children": [ { "frame"', Content.PROTON),
    "hatchet msgpack": (b"\x92\x83\xa5frame\x82", Content.PROTON_MSGPACK),
    "xspace": (field(1, PLANE) + field(1, PLANE), Content.XPLANE),
    "xspace, id first": (field(1, b"\x08\x03" + PLANE), Content.XPLANE),
    "xspace, cut in its first plane": (field(1, PLANE + bytes(9999))[:500], Content.XPLANE),
    "sqlite": (b"SQLite format 3\0" + bytes(84), Content.NSYS),
    "sqlite, header never written": (bytes(4096), Content.NSYS),
}

REFUSED: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "the file is empty"),
    "blanks": (b" \n\n ", "no trace that dctx knows"),
    "text": (b"step 1: loss 2.5\n", "begins with 'step 1: loss 2.5'"),
    "control characters": (b"\x1b[31mred", "begins with '.\\[31mred'"),
    "tar": (b"a.json".ljust(257, b"\0") + b"ustar\x0000", "tar archive.*tar -xf 'a b.json'"),
    "UTF-16": ("\ufeff[]".encode("utf-16-le"), "UTF-16.*iconv -f UTF-16"),
    "UTF-16 without a mark": ("{}".encode("utf-16-le"), "UTF-16.*iconv -f UTF-16"),
    "perfetto": (
        field(1, field(8, b"x") + field(3, b"y")),
        "Perfetto protobuf trace, or a damaged",
    ),
    "xspace damaged by a text editor": (
        b"\x0a\xef\xbf\xbd\xef\xbf\xbd\x12\x09/host:CPU",
        "Perfetto",
    ),
    "memory snapshot": (
        pickle.dumps({"segments": [{"device": 0}], "device_traces": [[]]}),
        "memory snapshot of PyTorch.*profile_memory=True",
    ),
    "memory snapshot as JSON": (
        text({"segments": NOTHING, "device_traces": [NOTHING]}),
        "memory snapshot of PyTorch",
    ),
    "pickle": (pickle.dumps({"weights": 1}), "pickles are never loaded"),
    "execution trace": (
        text({"schema": "1.0.1", "pid": 1, "start_ts": 1, "nodes": [{"name": "x"}]}),
        "execution trace \\(Chakra\\), not a profile",
    ),
    "execution trace without its start": (
        text({"schema": "1.0.2", "pid": 1, "nodes": [{"name": "x"}]}),
        "execution trace \\(Chakra\\), not a profile",
    ),
    "newer execution trace": (
        b'{"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": [{"id": 1, "na',
        "execution trace \\(Chakra\\), not a profile",
    ),
    "speedscope": (
        text({"$schema": "https://www.speedscope.app/file-format-schema.json", "profiles": []}),
        "speedscope profile",
    ),
    "JSON of something else": (text({"loss": 1, "traceevents": []}), "keys: loss, traceevents"),
    "events only in a string": (text({"log": '"traceEvents": ['}), "keys: log"),
    "events only inside": (text({"log": {"traceEvents": [EVENT]}}), "keys: log"),
    "JSON that is cut": (b'{"loss": [1, 2', "or cut before them.*keys found: loss"),
    "JSON lines of something else": (b'{"loss": 1}\n{"loss": 2}', "JSON lines, but.*keys: loss"),
    "memory timeline": (b"[[1, 2], [[3, 4]]]", "JSON list, but not of events"),
    "list of something else": (b'[{"file": "x"}]', "JSON list, but not of events.*file"),
    "HTML": (b"\n<!DOCTYPE html>", "an HTML page"),
    "LFS pointer": (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
    "Nsight Compute": (b"NVR\0\x02\0\0\0", "report of Nsight Compute"),
}


@pytest.mark.parametrize("name", TRACES)
def test_contents_are_told_by_their_bytes(name: str) -> None:
    data, expected = TRACES[name]
    assert detect(data, True) is expected


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_trace_gets_its_own_sentence(name: str) -> None:
    data, words = REFUSED[name]
    found = detect(data, True)
    assert isinstance(found, Refusal)
    error = found.error("/somewhere/a b.json")
    with pytest.raises(type(error), match=words):
        raise error
    assert "\n" not in str(error)
    assert error.remedy


@pytest.mark.parametrize("name", TRACES)
def test_a_file_cut_at_any_byte_is_the_same_trace_or_refused(name: str) -> None:
    data, expected = TRACES[name]
    for end in range(len(data)):
        found = detect(data[:end], True)
        assert isinstance(found, Refusal) or found in (expected, Content.CHROME), data[:end]


@pytest.mark.parametrize(
    "name", [n for n, (data, _) in TRACES.items() if data.strip()[:1] in b"[{"]
)
def test_what_is_told_early_is_not_told_otherwise_later(name: str) -> None:
    data, expected = TRACES[name]
    for end in range(1, len(data)):
        # A few events may be taken for those of any program before one shows whose they are.
        assert detect(data[:end], False) in (None, expected, Content.CHROME), data[:end]


@pytest.mark.parametrize(
    ("magic", "name"),
    [
        (b"\x1f\x8b\x08", "gzip"),
        (b"\x28\xb5\x2f\xfd\x04", "zstd"),
        (b"\xfd7zXZ\0\0", "xz"),
        (b"BZh9", "bzip2"),
        (b"PK\x03\x04\x14", "zip"),
        (b'{"a"', None),
    ],
)
def test_containers(magic: bytes, name: str | None) -> None:
    assert container_of(magic) == name


@pytest.mark.parametrize(
    ("tables", "expected"),
    [
        (["StringIds", "CUPTI_ACTIVITY_KIND_KERNEL"], Content.NSYS),
        (["TARGET_INFO_GPU"], Content.NSYS),
        (["rocpd_info_agent_00001", "rocpd_string_00001", "rocpd_op"], Content.ROCPD),
        (["rocpd_kernel_dispatch"], Content.ROCPD),
        (["rocpd_op", "rocpd_api", "rocpd_string"], Content.RPD),
        ([], Content.NSYS),
    ],
)
def test_databases_are_told_by_their_tables(tables: list[str], expected: Content) -> None:
    assert sqlite_content(tables) is expected


def test_a_long_beginning_needs_more_bytes() -> None:
    start = b'{"metadata": {"hosts": ["' + b"x" * 100_000 + b'"]}, "traceEvents": [' + text(EVENT)
    assert detect(start[:65536], False) is None
    assert isinstance(undecided(start[:65536]), Refusal)
    assert detect(start, False) is Content.KINETO


def test_quotes_left_open_in_names_do_not_hide_the_events() -> None:
    start = b'{"traceName": "my "best" run", "distributedInfo": {"rank": 3}, "traceEvents": [{"ph'
    seen = look(start)
    assert list(seen.values) == ["traceName", "distributedInfo", "traceEvents"]
    assert seen.values["distributedInfo"] == b'{"rank": 3}'
    assert seen.in_events


def test_deep_nesting_is_no_trouble() -> None:
    deep = b'{"a": ' + b"[" * 200_000 + b"]" * 200_000 + b', "traceEvents": []}'
    assert detect(deep, True) is Content.CHROME
    event = b'[{"ph": "X", "args": ' + b"[" * 100_000 + b"]" * 100_000 + b"}]"
    assert detect(event, True) is Content.CHROME


# ---------------------------------------------------------------------- real files --

CORPUS = os.environ.get("DCTX_TRACES", "")
KINDS = {
    "jax-trace": Content.JAX_TRACE,
    ".xplane.pb": Content.XPLANE,
    "proton/scope.chrome_trace": Content.CHROME,
    "proton/": Content.PROTON,
    "matmul-rpd-export.json": Content.CHROME,
    "rocprofv3": Content.ROCPROFV3,
    "torch-edge/chrome/": Content.CHROME,
    "torch-edge/empty.json": Content.CHROME,
    ".trace.json.gz": Content.JAX_TRACE,
}
NO_TRACES = ("speedscope", "execution-trace-et", "execution_details", ".ncu-rep", ".csv")


def corpus_files() -> Iterator[Path]:
    folders = ("torch", "torch-edge", "multirank", "jax", "rocm", "proton", "ncu")
    for folder in folders if CORPUS else ():
        for path in sorted((Path(CORPUS) / folder).rglob("*")):
            if path.is_file() and path.suffix not in (".rpd", ".db"):
                yield path


@pytest.mark.skipif(not CORPUS, reason="DCTX_TRACES is not set")
def test_every_real_file_is_what_it_is() -> None:
    checked = 0
    for path in corpus_files():
        name = path.relative_to(CORPUS).as_posix()
        head = path.read_bytes()[: 2**18]
        if container_of(head) == "gzip":
            head = zlib.decompressobj(31).decompress(head)
        head = head[:65536]
        found = detect(head, len(head) < 65536)
        if any(part in name for part in NO_TRACES):
            assert isinstance(found, Refusal), name
        else:
            parts = KINDS.items() if not name.startswith(("torch/", "multirank/")) else ()
            expected = next((kind for part, kind in parts if part in name), Content.KINETO)
            assert found is expected, name
        checked += 1
    assert checked > 100
