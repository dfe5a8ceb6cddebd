"""Runs the benchmarks, prints a table and writes JSON to bench/results."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from . import (
    align,
    compare,
    compare_keys,
    findings,
    flame,
    keys,
    open_json,
    ranks,
    reader,
    record,
    report,
    scan,
    timeline,
    verdict,
)
from . import open as opening
from .generate import MILLION
from .results import Figure, machine, save, show

PARTS = (
    *("reader", "open", "keys", "timeline", "verdict", "compare", "compare-keys", "align", "scan"),
    *("json", "report", "ranks", "record", "findings", "flame"),
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument(
        "--sizes", type=float, nargs="+", default=[0.2, 2, 10], metavar="MILLION",
        help="million kernels of the exports that are opened and judged",
    )  # fmt: skip
    parser.add_argument("--table", type=float, default=2, metavar="MILLION",
                        help="million kernels of what is read, scrolled, compared")  # fmt: skip
    parser.add_argument("--json", type=float, nargs="+", default=[500, 2000], metavar="MB",
                        help="megabytes of the JSON opened; of the first, judged")  # fmt: skip
    parser.add_argument("--json-source", type=Path, metavar="TRACE",
                        help="trace repeated to that size (else a demo)")  # fmt: skip
    parser.add_argument("--repeats", type=int, default=3, help="of which the median is taken")
    chosen = parser.parse_args()
    unknown = set(chosen.parts) - set(PARTS)
    if unknown:
        parser.error(f"no benchmark {', '.join(sorted(unknown))}")
    table = round(chosen.table * MILLION)
    sizes = [round(size * MILLION) for size in chosen.sizes]
    runs: dict[str, Callable[[], list[Figure]]] = {
        "reader": lambda: reader.run(table, chosen.repeats),
        "open": lambda: opening.run(sizes, chosen.repeats),
        "keys": lambda: keys.run(table),
        "timeline": lambda: timeline.run([size for size in sizes if size >= 2 * MILLION]),
        "verdict": lambda: verdict.run(sizes, chosen.repeats),
        "compare": lambda: compare.run(table, chosen.repeats),
        "compare-keys": lambda: compare_keys.run(table, chosen.repeats),
        "align": lambda: align.run(chosen.repeats),
        "scan": lambda: scan.run(chosen.json[0], chosen.repeats, chosen.json_source),
        "ranks": lambda: ranks.run(chosen.repeats),
        "record": record.run,
        "findings": lambda: findings.run(chosen.json[0], chosen.repeats, chosen.json_source),
        "flame": lambda: flame.run(chosen.repeats),
        "report": lambda: report.run(chosen.repeats, chosen.json_source),
        "json": lambda: open_json.run(chosen.json, chosen.repeats, chosen.json_source),
    }
    before = machine()
    console = Console(width=None if sys.stdout.isatty() else 120)
    figures: list[Figure] = []
    for part in chosen.parts or PARTS:
        console.print(f"[dim]{part} …[/]")
        figures += runs[part]()
    show(figures, console)
    console.print(f"[dim]load before {before['load']}; written to {save(figures, before)}[/]")


if __name__ == "__main__":
    main()
