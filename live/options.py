"""What is asked of a recording; handed to the processes of a job in one environment variable."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, fields, replace
from typing import Final, Literal

VARIABLE: Final = "DCTX_RECORD"
SOURCES: Final = ("python", "op", "native", "gpu")
DEFAULT_SOURCES: Final = ("python", "op", "gpu")
SUFFIX: Final = ".dctxrec"

Children = Literal["all", "fork", "none"]
Native = Literal["cached", "exact", "launch", "full"]
GpuMode = Literal["auto", "off", "require", "yield", "cupti", "rocprofiler"]
JaxRoute = Literal["window", "kernels"]
Graphs = Literal["node", "launch"]
Samples = Literal["off", "continuous", "serialized", "per-launch"]


@dataclass(frozen=True, slots=True)
class Options:
    """Of one recording. Times in seconds."""

    output: str
    """The file; processes beside the first add to its name what tells them apart."""
    sources: tuple[str, ...] = DEFAULT_SOURCES
    """Of SOURCES; scopes are always recorded."""
    shapes: bool = False
    """Note what operators are called with."""
    memory: bool = False
    """Sum up what torch's allocators tell."""
    slow_ok: bool = False
    """Where torch cannot be attached to, record its operators at several times their cost."""
    jax_steps: int = 5
    """Steps of a JAX program whose operations are recorded; 0: none."""
    jax_route: JaxRoute = "window"
    """Who records GPU work of JAX: XLA's profiler for some steps, or the recorder all along."""
    native: Native = "cached"
    """When C and C++ frames are read, where they are among the sources."""
    counters: tuple[str, ...] = ()
    """Of the processor, read at the begin and end of scopes."""
    cpu_sample_hz: int = 0
    """Samples of each thread, a second of its CPU time; 0: none."""
    snapshot_s: float = 5.0
    fsync: bool = False
    max_nodes: int = 2_000_000
    max_mb: float = 256.0
    """Memory that the contexts of a process may take."""
    delay_s: float = 0.0
    duration_s: float | None = None
    paused: bool = False
    """Recording begins when it is told to: by the signal, the socket or the program."""
    toggle_signal: int = 0
    """Turns recording on and off; 0: none."""
    control: bool = False
    """Each process listens for commands on a socket in the meeting folder."""
    start_step: int = 0
    """Steps that are passed over before the first that is recorded."""
    steps: int | None = None
    every: int = 1
    step_marker: str = ""
    """The scope that ends steps, in place of optimizers and dctx.step."""
    children: Children = "all"
    ranks: tuple[int, ...] = ()
    """Record only these; empty: all."""
    gpu: GpuMode = "auto"
    """Whether GPU work is recorded: where there is a GPU of NVIDIA; never; else the program does
    not start; until another profiler wants it; by this library."""
    samples: Samples = "off"
    """How instructions of kernels are sampled, if at all."""
    sample_period: int = 18
    """A sample every 2^n cycles."""
    graphs: Graphs = "node"
    """Each piece of work in a graph, or whole graphs."""
    quiet: bool = False
    hooked: bool = False
    """Functions of devices are hooked: the folder `meeting` says which."""
    meeting: str = ""
    """A private folder where the processes of a job tell `dctx record` of themselves."""

    @property
    def window(self) -> tuple[int, int, int]:
        """Steps: passed over, recorded (0: all), one in so many."""
        return self.start_step, self.steps or 0, self.every

    @property
    def by_steps(self) -> bool:
        """Recording begins or ends with steps."""
        return self.window != (0, 0, 1)

    def to_environment(self) -> str:
        """Text for VARIABLE."""
        return json.dumps(asdict(self))


def from_environment() -> Options | None:
    """The options of the job this process belongs to; None when it is not recorded."""
    text = os.environ.get(VARIABLE)
    if not text:
        return None
    try:
        found = json.loads(text)
        known = {field.name for field in fields(Options)}
        options = Options(**{name: value for name, value in found.items() if name in known})
    except (ValueError, TypeError, AttributeError):
        return None  # not ours: a variable of that name that someone else set
    return replace(
        options,
        sources=tuple(options.sources),
        ranks=tuple(options.ranks),
        counters=tuple(options.counters),
    )


def rank() -> int | None:
    """The rank of this process in its job, as launchers tell it."""
    names = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK")
    return next((value for name in names if (value := _number(name)) is not None), None)


def world_size() -> int | None:
    """How many ranks the job has."""
    names = ("WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
    return next((value for name in names if (value := _number(name)) is not None), None)


def local_rank() -> int | None:
    """The rank of this process on its host."""
    names = ("LOCAL_RANK", "SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK")
    return next((value for name in names if (value := _number(name)) is not None), None)


def _number(name: str) -> int | None:
    text = os.environ.get(name, "")
    return int(text) if text.isdecimal() else None
