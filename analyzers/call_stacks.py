"""Where an operator was called from: its call stack, and the function of the program behind it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ..ingest.model import HostKind

if TYPE_CHECKING:
    from ..queries.report_events import Host

NOT_FOUND: Final = "Not found"
_ARROW: Final = " => "
_INSTANCE: Final = re.compile(r"^(nn\.Module: .*)_\d+$")
_TOLD: Final = re.compile(r"nn\.Module|::|/")
"""Frames of a stack: modules, operators, and functions of files."""
_WRAPPER: Final = re.compile(
    r"torch/_ops\.py|nn/modules/module\.py|_inductor/|_functorch/|_dynamo/|functional\.py"
    r"|overrides\.py|^<built-in|^nn\.Module: |: (_call_impl|_wrapped_call_impl|wrapper|wrapped"
    r"|__call__|inner|_fn|decorate_context)$"
)
"""Frames that only pass a call on."""


def call_stack(host: Host, texts: Mapping[int, str], event: int) -> list[str]:
    """Names from the root to the event: operators, modules (without their numbers) and functions
    of files."""
    names: list[str] = []
    at = event
    while at >= 0:
        text = texts.get(int(host.name[at]), "")
        kind = host.kind[at]
        if kind == HostKind.OP or (kind == HostKind.PYTHON and _TOLD.search(text)):
            names.append(_INSTANCE.sub(r"\1", text))
        at = int(host.parent[at])
    return names[::-1]


def full_stack(
    host: Host, texts: Mapping[int, str], event: int, kernels: Sequence[tuple[int, str]]
) -> str:
    """The stack of an operator down to its kernels, (launch, name) each; what several have in
    common stands first, then what is different: `a => b => {c => k1 | d => k2}`."""
    stacks = [
        [*call_stack(host, texts, launch if launch >= 0 else event), name]
        for launch, name in kernels
    ] or [call_stack(host, texts, event)]
    distinct = list(dict.fromkeys(map(tuple, stacks)))
    common = 0
    while all(len(s) > common + 1 for s in distinct) and len({s[common] for s in distinct}) == 1:
        common += 1
    tails = [_ARROW.join(stack[common:]) for stack in distinct]
    ends = tails[0] if len(tails) == 1 else "{" + " | ".join(tails) + "}"
    return _ARROW.join([*distinct[0][:common], ends])


def entry_point(host: Host, texts: Mapping[int, str], event: int, launches: Sequence[int]) -> str:
    """The Python function that stands for an operator: the outermost one below it whose name holds
    the operator's, else the innermost above it that does more than pass the call on."""
    local = texts.get(int(host.name[event]), "").rpartition("::")[2]
    for launch in launches:
        below: list[str] = []
        at = launch
        while at >= 0 and at != event:
            if host.kind[at] == HostKind.PYTHON:
                below.append(texts.get(int(host.name[at]), ""))
            at = int(host.parent[at])
        if at < 0:
            continue
        for text in reversed(below):
            if local and local in text.rpartition("): ")[2]:
                return text
    at = int(host.parent[event])
    while at >= 0:
        text = texts.get(int(host.name[at]), "")
        if host.kind[at] == HostKind.PYTHON and text and not _WRAPPER.search(text):
            return text
        at = int(host.parent[at])
    return NOT_FOUND
