"""What the checks share: values they found, programs they run, recordings they ask."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


class CheckError(Exception):
    """The check cannot go on; the text says why."""


class Report:
    """The values of one check, and what was not as it should be."""

    def __init__(self, folder: Path, *, trial: bool = False) -> None:
        self.folder, self.trial = folder, trial
        """`trial`: on the CPU, with small models: the code runs, what it finds means nothing."""
        self.values: dict[str, Any] = {}
        self.failures: list[str] = []

    def expect(self, good: bool, what: str) -> None:
        """Note what is wrong unless it is good; the check goes on."""
        if not good:
            self.failures.append(what)

    def train(self, model: str, *arguments: str) -> list[str]:
        """The command line that trains a model."""
        where = ("--device", "cpu", "--small") if self.trial else ()
        return module_command("train", model, *where, *arguments)

    def script(self, name: str, text: str) -> Path:
        """Write a program into the check's folder."""
        if self.trial:
            text = text.replace('"cuda"', '"cpu"').replace("torch.cuda.synchronize()", "None")
        path = self.folder / name
        path.write_text(text)
        return path

    def python(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run Python to its end; what it said is in the check's output too."""
        done = subprocess.run(
            [sys.executable, *arguments],
            capture_output=True,
            text=True,
            env={**os.environ, **environment},
            check=False,
        )
        print(f"$ python {' '.join(arguments)}\n{done.stdout}{done.stderr}", flush=True)
        return done

    def last_json(self, *arguments: str, **environment: str) -> dict[str, Any]:
        """What a program prints as its last line. CheckError when it fails, or prints none."""
        done = self.python(*arguments, **environment)
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode or not lines:
            said = (done.stderr or done.stdout).strip().splitlines()
            last = said[-1] if said else "nothing said"
            raise CheckError(f"{' '.join(arguments[:4])} ended with {done.returncode}: {last}")
        found: dict[str, Any] = json.loads(lines[-1])
        return found

    def record(
        self, name: str, command: Sequence[str], *options: str, **environment: str
    ) -> dict[str, Any]:
        """Run a program under `dctx record`: its closing summary. The recording is NAME.dctxrec in
        the check's folder."""
        done = self.python(
            "-m", "dctx.cli", "record", "-o", str(self.path(name)), "--report", "json",
            *options, "--", sys.executable, *command, **environment,
        )  # fmt: skip
        lines = [line for line in done.stderr.splitlines() if line.startswith("{")]
        if done.returncode or not lines:
            said = done.stderr.strip().splitlines()
            raise CheckError(
                f"recording {name}: code {done.returncode}: {said[-1] if said else ''}"
            )
        summary: dict[str, Any] = json.loads(lines[-1])
        summary["said"] = [line for line in done.stderr.splitlines() if line.startswith("dctx:")]
        printed = [line for line in done.stdout.splitlines() if line.startswith("{")]
        summary["printed"] = json.loads(printed[-1]) if printed else {}
        return summary

    def path(self, name: str) -> Path:
        """The recording of this name."""
        return self.folder / f"{name}.dctxrec"

    def sql(self, name: str, query: str) -> list[dict[str, Any]]:
        """Rows of a question to a recording."""
        done = self.python("-m", "dctx.cli", "sql", str(self.path(name)), query, "--format", "json")
        if done.returncode:
            said = done.stderr.strip().splitlines()
            raise CheckError(f"{name}: {said[-1] if said else 'no answer'}")
        rows: list[dict[str, Any]] = json.loads(done.stdout)
        return rows

    def kernels(self, name: str) -> dict[str, tuple[int, int]]:
        """Count and ns of the kernels of a recording, by name."""
        rows = self.sql(
            name,
            "SELECT s.text AS name, sum(o.count) AS count, sum(o.sum_ns) AS ns FROM op_stat o "
            "JOIN string s ON s.id = o.name JOIN gpu_kind_name k ON k.code = o.kind "
            "WHERE k.name = 'kernel' GROUP BY s.text",
        )
        return {row["name"]: (int(row["count"]), int(row["ns"])) for row in rows}

    def facts(self, name: str) -> Mapping[str, Any]:
        """What the store tells of the recording, by key."""
        rows = self.sql(name, "SELECT key, value FROM trace")
        return {row["key"]: row["value"] for row in rows}


def module_command(module: str, *arguments: str) -> list[str]:
    """The command line of a module of this package."""
    return ["-m", f"{__package__}.{module}", *arguments]
