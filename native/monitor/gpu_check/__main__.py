"""Runs the checks one after the other; see the package."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from .items import ITEMS, TOTAL_S, Item

_NO_GPU = "no GPU"


def main(arguments: Sequence[str] | None = None) -> int:
    """0 when every check that could run found what it should; 1 when one did not, or none ran."""
    parser = argparse.ArgumentParser(prog="gpu_check", description=__package__)
    parser.add_argument("--out", type=Path, default=Path("gpu-check"), help="folder of the results")
    parser.add_argument("--items", default="", help="numbers of checks, as 1,4; default: all")
    parser.add_argument("--total", type=float, default=TOTAL_S, help="seconds for all of them")
    parser.add_argument(
        "--cpu",
        action="store_true",
        help="a trial of the code on the CPU: what it finds there is told, but fails nothing",
    )
    given = parser.parse_args(arguments)
    wanted = {int(number) for number in given.items.split(",") if number.strip()}
    given.out.mkdir(parents=True, exist_ok=True)
    results = [_skipped(item, "waits") for item in ITEMS if not wanted or item.number in wanted]
    why = "" if given.cpu or gpu_files() else _NO_GPU
    end = time.monotonic() + given.total
    for at, result in enumerate(results):
        item = next(item for item in ITEMS if item.number == result["item"])
        left = end - time.monotonic()
        if why:
            results[at] = _skipped(item, why)
        elif left < 1:
            results[at] = _skipped(item, "no time left")
        else:
            limit_s = left if given.cpu else min(item.limit_s, left)
            results[at] = run_item(item, given.out, limit_s, trial=given.cpu)
        _write(given.out / "results.json", results)
        print(_line(results[at]), flush=True)
    ran = [result for result in results if result["state"] in ("passed", "failed", "timed out")]
    return 0 if ran and all(result["state"] == "passed" for result in ran) else 1


def gpu_files() -> bool:
    """Whether NVIDIA's driver is there: no library is loaded for the question."""
    return Path("/dev/nvidiactl").exists() or Path("/proc/driver/nvidia/version").exists()


def run_item(item: Item, out: Path, limit_s: float, *, trial: bool = False) -> dict[str, Any]:
    """Run one check in a process group of its own, which is ended when its time is over."""
    folder = out / f"item-{item.number:02d}"
    folder.mkdir(exist_ok=True)
    command = [sys.executable, "-m", f"{__package__}.child", str(item.number), str(folder)]
    command += ["--cpu"] if trial else []
    began = time.monotonic()
    with (folder / "output.txt").open("wb") as output:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = child.wait(limit_s)
        except subprocess.TimeoutExpired:
            code = None
        _end_group(child)
    found = _found(folder / "found.json")
    state = "timed out" if code is None else str(found.get("state", "failed"))
    reason = str(found.get("reason", ""))
    if code is None:
        reason = f"not ready after {limit_s:.0f} s"
    elif not found:
        reason = f"exit code {code}: {_last_line(folder / 'output.txt')}"
    return {
        **_head(item),
        "state": state,
        "reason": reason,
        "seconds": round(time.monotonic() - began, 1),
        "values": found.get("values", {}),
    }


def _end_group(child: subprocess.Popen[bytes]) -> None:
    """The group is the check's own: whatever it left behind ends with it."""
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _found(path: Path) -> dict[str, Any]:
    try:
        found: Any = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _last_line(path: Path) -> str:
    lines = path.read_text(errors="replace").strip().splitlines()
    return lines[-1][:300] if lines else "it said nothing"


def _head(item: Item) -> dict[str, Any]:
    return {"item": item.number, "title": item.title, "limit_s": item.limit_s}


def _skipped(item: Item, why: str) -> dict[str, Any]:
    return {**_head(item), "state": "skipped", "reason": why, "seconds": 0.0, "values": {}}


def _write(path: Path, results: Sequence[Mapping[str, Any]]) -> None:
    """Whole or not at all: a run that is cut leaves what was written before."""
    fresh = path.with_suffix(".tmp")
    fresh.write_text(json.dumps({"format": 1, "items": results}, indent=1))
    fresh.replace(path)


def _line(result: Mapping[str, Any]) -> str:
    reason = f": {result['reason']}" if result["reason"] else ""
    seconds = f" ({result['seconds']} s)" if result["seconds"] else ""
    return f"{result['item']:2d} {result['title']}: {result['state']}{reason}{seconds}"


if __name__ == "__main__":
    sys.exit(main())
