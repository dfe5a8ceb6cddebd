"""Contexts of the host that several analyzers know, told by their names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from ...ingest.api_names import base_name, is_graph_build
from ...ingest.model import Layer
from ..profile_findings import WAITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .facts import Facts

    Mask = NDArray[np.bool_]

ONCE: Final = 0.8
"""One visit, or call, with this part of the time of all stands out: a first use, perhaps."""
_LOADER: Final = re.compile(
    r"DataLoader|data_?loader|_next_data|next_batch|get_batch|(?<![a-z])data_?iter",
    re.IGNORECASE,
)
_STEP: Final = re.compile(r"^ProfilerStep|^(?:train|training|test)?[ _]?(?:step|iteration)\b")
_STANDING: Final = re.compile(
    r"(?:^|[._ <(])(?:wait|acquire|_?recv|poll|select|join|sleep)\b|block_until_ready|try_to_block"
    r"|\bawait|synchronize|SequencingEvent|wait for completion|stop_trace|run_backward"
    r"|^MPI_|_local_scalar_dense|^aten::item\b",
    re.IGNORECASE,
)
_COMPILING: Final = re.compile(
    r"compile_inner|entire_frame_compile|_compile\.|backend_compile|fx_codegen_and_compile"
    r"|inductor_compile|CompileFx|create_aot_dispatcher|compile_fx|compile_to_module",
    re.IGNORECASE,
)
_BUILDING: Final = re.compile(
    r"cu(?:da)?(?:Module|Library)Load|hipModuleLoad|nvrtc|cuLink(?:Create|AddData|Complete)"
    r"|benchmark_all_configs|autotune|triton.*compiler",
    re.IGNORECASE,
)


def steps(facts: Facts) -> Mask:
    """Ranges of whole steps."""
    found: Mask = facts.is_code & facts.named(_STEP)
    return found


def standing_by(facts: Facts) -> Mask:
    """Contexts that wait for others and do no work, told by their names."""
    found: Mask = facts.is_code & facts.named(_STANDING)
    return found


def waits(facts: Facts) -> Mask:
    """Calls that return when the GPU has caught up."""
    found: Mask = (facts.layer == Layer.API) & facts.where(lambda name: base_name(name) in WAITS)
    return found


def loading(facts: Facts) -> Mask:
    """Contexts that fetch the next input, told by name or file."""
    frames = facts.tree.table.frames
    of_file = np.array([(f or "").endswith("dataloader.py") for f in frames.files], np.bool_)
    found: Mask = facts.is_code & (facts.named(_LOADER) | of_file[facts.tree.table.frame])
    return found


def compiling(facts: Facts) -> Mask:
    """Contexts in which torch.compile compiles."""
    found: Mask = facts.is_code & facts.named(_COMPILING)
    return found


def building(facts: Facts) -> Mask:
    """Contexts that load or build code, tune kernels, or capture graphs."""
    api = (facts.layer == Layer.API) & facts.where(lambda name: is_graph_build(base_name(name)))
    found: Mask = api | facts.named(_BUILDING) & ~facts.is_kernel
    return found
