"""Gigabytes per second of the trace-event scanner, one thread, and the memory it takes.

The time is the CPU time of the scan alone, from bytes in memory to the finished tables: reading
them from the file (or decompressing them) is other work, and is not in it.

Each run is a process of its own: python -m bench.scan TRACE prints its figures as JSON.
"""

import json
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import process_time

from dctx.native import EventScanner, StringPool

from .child import peak_rss_bytes
from .kineto import trace
from .results import Figure

CHUNK = 1 << 20
GB = 1e9


def _scan(path: Path) -> dict[str, float]:
    base = peak_rss_bytes("self")
    scanner = EventScanner(StringPool())
    buffer = memoryview(bytearray(CHUNK))
    cpu_s = 0.0
    with path.open("rb", buffering=0) as file:
        while size := file.readinto(buffer):
            begin = process_time()
            scanner.feed(buffer[:size])
            cpu_s += process_time() - begin
    begin = process_time()
    scan = scanner.finish()
    return {
        "cpu_s": cpu_s + process_time() - begin,
        "bytes": scanner.bytes_read,
        "events": scan.events,
        "base_rss": base,
        "peak_rss": peak_rss_bytes("self"),
    }


def run(megabytes: float, repeats: int, source: Path | None) -> list[Figure]:
    path = trace(round(megabytes * 1_000_000), source)
    command = [sys.executable, "-m", "bench.scan", str(path)]
    runs = [
        json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        for _ in range(repeats)
    ]
    label = f"{runs[0]['bytes'] / 1e6:,.0f} MB, {runs[0]['events'] / 1e6:.2f} M events"
    cpu_s = median(run["cpu_s"] for run in runs)
    return [
        Figure(
            f"trace JSON scan, {label}", runs[0]["bytes"] / cpu_s / GB, "GB/CPU s", at_least=1.2
        ),
        Figure(
            f"trace JSON scan, {label}, peak memory",
            median(run["peak_rss"] for run in runs) / 1e6,
            "MB",
            at_most=250,
            note=f"of it {median(run['base_rss'] for run in runs) / 1e6:.0f} the interpreter",
        ),
    ]


if __name__ == "__main__":
    print(json.dumps(_scan(Path(sys.argv[1]))))
