"""Names of the calls of CUDA and HIP, and what the calls do."""

import re
from typing import Final

_API_VERSION = re.compile(r"_v\d+$")
_PER_THREAD = re.compile(r"_pt(?:sz|ds)$")

KERNEL_LAUNCHES: Final = frozenset(
    {
        "cudaLaunchKernel",
        "cudaLaunchKernelExC",
        "cudaLaunchCooperativeKernel",
        "cudaLaunchCooperativeKernelMultiDevice",
        "cudaLaunch",
        "cuLaunchKernel",
        "cuLaunchKernelEx",
        "cuLaunchCooperativeKernel",
        "cuLaunchCooperativeKernelMultiDevice",
        "cuLaunchGrid",
        "cuLaunchGridAsync",
        "cuLaunch",
        "hipLaunchKernel",
        "hipExtLaunchKernel",
        "hipModuleLaunchKernel",
        "hipExtModuleLaunchKernel",
    }
)
GRAPH_LAUNCHES: Final = frozenset({"cudaGraphLaunch", "cuGraphLaunch", "hipGraphLaunch"})
LAUNCHES: Final = KERNEL_LAUNCHES | GRAPH_LAUNCHES

_BLOCKING = re.compile(
    r"(?:cuda|hip)(?:Device|Stream|Event)Synchronize"
    r"|cu(?:Ctx|Stream|Event)Synchronize"
    r"|cuda(?:Memcpy|MemcpyToSymbol|Memset|Free|HostAlloc|MallocHost|Malloc)"
    r"|cuMemcpy(?:HtoD|DtoH|DtoD)"
    r"|hip(?:Memcpy|MemcpyWithStream|MemcpyToSymbol|Memset|Free|HostMalloc|Malloc)"
)
_MEMORY = re.compile(r"Malloc|Free|MemAlloc|HostAlloc|HostRegister")
_GRAPH_BUILD = re.compile(
    r"(?:cuda|cu|hip)(?:GraphInstantiate\w*|GraphExecUpdate|Stream(?:Begin|End)Capture)"
)


def base_name(name: str) -> str:
    """A call without its API version and per-thread-stream suffix."""
    return _PER_THREAD.sub("", _API_VERSION.sub("", name))


def is_blocking(base: str) -> bool:
    """True for calls that wait for the GPU: synchronisation, plain copies, allocation."""
    return _BLOCKING.fullmatch(base) is not None


def is_memory(base: str) -> bool:
    """True for calls that allocate, free or register memory."""
    return _MEMORY.search(base) is not None


def is_graph_build(base: str) -> bool:
    """True for calls that capture, instantiate or update a graph."""
    return _GRAPH_BUILD.match(base) is not None
