"""Hand-made PyTorch traces: events as the profiler writes them, and questions to their store."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dctx.ingest.registry import open_trace
from dctx.ingest.store import Store

Event = dict[str, Any]

PID, MAIN, AUTOGRAD = 100, 100, 200
STREAM = 7


def event(cat: str, name: str, ts: float, dur: float, tid: Any = MAIN, **args: Any) -> Event:
    """A complete event; times in microseconds."""
    return {
        "ph": "X",
        "cat": cat,
        "name": name,
        "pid": PID,
        "tid": tid,
        "ts": ts,
        "dur": dur,
        "args": args,
    }


def op(name: str, ts: float, dur: float, tid: int = MAIN, **args: Any) -> Event:
    """An operator."""
    return event("cpu_op", name, ts, dur, tid, **args)


def forward(name: str, ts: float, dur: float, number: int, tid: int = MAIN) -> Event:
    """An operator with a sequence number."""
    return op(name, ts, dur, tid, **{"Sequence number": number, "Fwd thread id": 0})


def backward(
    name: str, ts: float, dur: float, number: int, thread: int = 1, tid: int = AUTOGRAD
) -> Event:
    """A backward operator of the logical thread `thread`."""
    return op(name, ts, dur, tid, **{"Sequence number": number, "Fwd thread id": thread})


def python(
    name: str, ts: float, dur: float, number: int | None = None, parent: int | None = None
) -> Event:
    """A Python function."""
    ids = {} if number is None else {"Python id": number, "Python parent id": parent}
    return event("python_function", name, ts, dur, **ids)


def call(name: str, ts: float, dur: float, correlation: int, tid: int = MAIN, **args: Any) -> Event:
    """A runtime call."""
    return event("cuda_runtime", name, ts, dur, tid, correlation=correlation, **args)


def gpu(cat: str, name: str, ts: float, dur: float, correlation: int | None, **args: Any) -> Event:
    """GPU work on device 0."""
    own = {"device": 0, "stream": STREAM} | args
    if correlation is not None:
        own["correlation"] = correlation
    return event(cat, name, ts, dur, own["stream"], **own) | {"pid": own["device"]}


def kernel(name: str, ts: float, dur: float, correlation: int | None, **args: Any) -> Event:
    """A kernel."""
    return gpu("kernel", name, ts, dur, correlation, **args)


def flow(phase: str, ts: float, number: int, tid: int) -> Event:
    """One end of a forward-backward flow."""
    return {
        "ph": phase,
        "cat": "fwdbwd",
        "name": "fwdbwd",
        "id": number,
        "pid": PID,
        "tid": tid,
        "ts": ts,
    }


def write_json(path: Path, events: Sequence[Event], **envelope: Any) -> Path:
    """A trace file."""
    whole = {"schemaVersion": 1, **envelope, "traceEvents": list(events)}
    path.write_text(json.dumps(whole), encoding="utf-8")
    return path


class Opened:
    """A store with the questions that the tests ask."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        with self.store.cursor() as cursor:
            return cursor.execute(sql).fetchall()

    def facts(self) -> dict[str, str]:
        """All facts."""
        return dict(self.rows("SELECT key, value FROM trace"))

    def notes(self) -> str:
        """All notes, one a line."""
        return "\n".join(text for (text,) in self.rows("SELECT text FROM note"))

    def parents(self) -> dict[str, str | None]:
        """Name of the parent by name of the event (names are told apart by the tests)."""
        return dict(
            self.rows(
                """SELECT s.text, p.text FROM host_event h JOIN string s ON s.id = h.name
                   LEFT JOIN host_event q ON q.id = h.parent LEFT JOIN string p ON p.id = q.name
                   WHERE h.node IS NOT NULL"""
            )
        )

    def launches(self) -> list[tuple[Any, ...]]:
        """(name, launch, operator) of all GPU work that is not a wait or a span."""
        return self.rows(
            """SELECT s.text, c.text, p.text FROM gpu_op o JOIN string s ON s.id = o.name
               LEFT JOIN host_event h ON h.id = o.launch LEFT JOIN string c ON c.id = h.name
               LEFT JOIN host_event q ON q.id = o.op LEFT JOIN string p ON p.id = q.name
               WHERE o.kind < 4 ORDER BY o.start_ns, s.text"""
        )

    def forwards(self) -> dict[str, str | None]:
        """Name of the forward operator by name of the backward one."""
        return dict(
            self.rows(
                """SELECT s.text, f.text FROM host_event h JOIN string s ON s.id = h.name
                   JOIN host_event q ON q.id = h.forward JOIN string f ON f.id = q.name"""
            )
        )

    def path(self, name: str, table: str = "gpu_op") -> list[str]:
        """Names from below the process to the node of the first event with this name."""
        [(node,)] = self.rows(
            f"""SELECT e.node FROM {table} e JOIN string s ON s.id = e.name
                WHERE s.text = '{name}' ORDER BY e.id LIMIT 1"""
        )
        names = self.rows(
            f"""SELECT p.name FROM paths p JOIN path_node n ON n.id = p.id
                WHERE p.id <= {node} AND n.last >= {node} ORDER BY p.depth"""
        )
        return [text for (text,) in names][2:]

    def lanes(self) -> dict[str, str]:
        """Name of the lane by name of the event."""
        return dict(
            self.rows(
                """SELECT s.text, l.name FROM (SELECT name, lane FROM host_event UNION ALL
                   SELECT name, lane FROM gpu_op) e JOIN string s ON s.id = e.name
                   JOIN lane l ON l.id = e.lane"""
            )
        )


def opened(path: Path, events: Sequence[Event], **envelope: Any) -> Opened:
    """The store of a trace with these events."""
    return Opened(open_trace(write_json(path, events, **envelope), cache=False))


def device(**properties: Any) -> Mapping[str, Any]:
    """An entry of deviceProperties."""
    return {"id": 0, "name": "NVIDIA H100", "numSms": 132} | properties
