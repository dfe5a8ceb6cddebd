"""One check, in a process of its own: `python -m …gpu_check.child NUMBER FOLDER [--cpu]`."""

from __future__ import annotations

import json
import sys
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any

from .items import ITEMS
from .report import CheckError, Report


def main(number: int, folder: Path, *, trial: bool = False) -> None:
    """Write what was found to `found.json`: also when the check fails half-way."""
    item = next(item for item in ITEMS if item.number == number)
    report = Report(folder, trial=trial)
    state, reason = "passed", ""
    try:
        module: Any = import_module(f".{item.module}", __package__)
        getattr(module, f"check_{number}")(report)
        reason = "; ".join(report.failures)
        if report.failures and not trial:
            state = "failed"
    except CheckError as error:
        state, reason = "failed", str(error)
    except Exception as error:
        traceback.print_exc()
        state, reason = "failed", f"{type(error).__name__}: {error}"
    found = {"state": state, "reason": reason, "values": report.values}
    (folder / "found.json").write_text(json.dumps(found, indent=1, default=str))


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]), trial=sys.argv[3:] == ["--cpu"])
