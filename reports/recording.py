"""What `dctx record` says when the job has ended."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from typing import Any

from ..analyzers.recording_job import RecordedJob
from . import format as fmt
from .json_text import json_text

_SHOWN_FILES = 4
_PATH_WIDTH = 70
_TOLD_SHARE = 0.01
"""Of what ran once; less is not told."""
_NOTHING = "nothing was recorded: no operator of torch or JAX ran, and no dctx.scope"


def job_text(job: RecordedJob, limits: Sequence[str] = ()) -> str:
    """The closing summary: lines that each begin with `dctx: `. `limits`: what kept recording off
    for a part of the run; told when there is nothing else to tell."""
    lines = [f"{fmt.clean(file.path.name)}: {file.failure}" for file in job.files if file.failure]
    good = [file for file in job.files if file.recording is not None]
    if not good:
        return _lines(lines or [_nothing(limits)])
    lines += [f"{shown(file.path)} ({fmt.size(file.size_bytes)})" for file in good[:_SHOWN_FILES]]
    if len(good) > _SHOWN_FILES:
        lines.append(f"… and {len(good) - _SHOWN_FILES} more files beside it")
    steps = f"{fmt.count(job.steps)} steps, " if job.steps else ""
    if job.events or not job.jax:
        kernels = f", {fmt.count(job.kernels)} kernels" if job.kernels else ""
        contexts = fmt.count(job.contexts)
        lines.append(f"{steps}{fmt.count(job.events)} events in {contexts} contexts{kernels}")
    if job.jax:
        counted = [window.steps for window in job.jax if window.steps is not None]
        held = f"{fmt.count(sum(counted))} steps in " if len(counted) == len(job.jax) else ""
        span = fmt.duration(sum(window.ns for window in job.jax))
        lines.append(f"operations of JAX: those of {held}{span}")
    if job.once is not None and job.once_ns >= _TOLD_SHARE * job.own_ns:
        part = fmt.share(job.once_ns / job.own_ns)
        lines.append(
            f"{fmt.duration(job.once_ns)}, {part} of the own time, ran once (imports, set-up, "
            f"first calls): most in {fmt.path(job.once.names, _PATH_WIDTH)}"
        )
    if job.hottest is not None:
        path, part = fmt.path(job.hottest.names, _PATH_WIDTH), fmt.share(hottest_share(job))
        lines.append(f"hottest: {path}, {part} of the {'rest' if job.once_ns else 'own time'}")
    lines += [f"note: {note}" for note in job.notes]
    if job.losses:
        told = ", ".join(f"{name} {fmt.count(count)}" for name, count in job.losses.items())
        lines.append(f"lost or not placed: {told}")
    if job.incomplete:
        files = "a process" if job.incomplete == 1 else f"{job.incomplete} processes"
        lines.append(
            f"{files} did not end the recording (killed, replaced itself, or could not write): "
            "kept up to the last snapshot"
        )
    lines.append(
        "recording cost: n/a (not measured)"
        if job.own_cost_ns is None
        else f"recording cost about {fmt.duration(job.own_cost_ns)}, {fmt.share(job.own_share)} of "
        "the time recorded (an estimate)"
    )
    asked = good[0].path if len(good) == 1 else good[0].path.parent
    names = [asked] if len(good) == 1 else [file.path for file in good[:2]]
    more = " …" if len(good) > len(names) else ""
    lines.append(f"open it: dctx-tui {' '.join(shlex.quote(shown(name)) for name in names)}{more}")
    return _lines(lines)


def _nothing(limits: Sequence[str]) -> str:
    if not limits:
        return f"{_NOTHING}."
    return f"{_NOTHING}, while recording was on ({'; '.join(limits)})."


def hottest_share(job: RecordedJob) -> float | None:
    """Part of the hottest context of all own time but what the program did once."""
    if job.hottest is None:
        return None
    return job.hottest.ns / (job.own_ns - job.once_ns)


def _lines(lines: Sequence[str]) -> str:
    return "".join(f"dctx: {fmt.clean(line)}\n" for line in lines)


def shown(path: os.PathLike[str]) -> str:
    """A path as short as it can be told from here."""
    text = os.fspath(path)
    relative = os.path.relpath(text)
    return text if relative.startswith("..") else relative


def job_json(job: RecordedJob, exit_code: int) -> str:
    """The same as one JSON object on one line. Unknown values are null."""
    value: dict[str, Any] = {
        "exit_code": exit_code,
        "files": [
            {"path": str(file.path), "bytes": file.size_bytes, "failure": file.failure or None}
            for file in job.files
        ],
        "steps": job.steps,
        "events": job.events,
        "contexts": job.contexts,
        "kernels": job.kernels,
        "jax": [{"ns": window.ns, "steps": window.steps} for window in job.jax],
        "hottest": [] if job.hottest is None else list(job.hottest.names),
        "hottest_share": hottest_share(job),
        "once": [] if job.once is None else list(job.once.names),
        "once_share": job.once_ns / job.own_ns if job.own_ns else None,
        "losses": job.losses,
        "notes": list(job.notes),
        "incomplete_files": job.incomplete,
        "own_cost_ns": job.own_cost_ns,
        "own_share": job.own_share,
    }
    return json_text(value) + "\n"
