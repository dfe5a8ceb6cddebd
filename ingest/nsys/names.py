"""Labels of the codes of the format."""

from typing import Final

COPY_KINDS: Final = {
    1: "HtoD",
    2: "DtoH",
    3: "HtoA",
    4: "AtoH",
    5: "AtoA",
    6: "AtoD",
    7: "DtoA",
    8: "DtoD",
    9: "HtoH",
    10: "PtoP",
    11: "unified HtoD",
    12: "unified DtoH",
    13: "unified DtoD",
}
SYNC_TYPES: Final = {
    1: "event synchronize",
    2: "stream wait event",
    3: "stream synchronize",
    4: "context synchronize",
}
OVERHEAD_TYPES: Final = {
    2: "JIT compile",
    3: "buffer flush",
    4: "instrumentation",
    5: "resource creation",
    6: "module loading",
    7: "lazy function loading",
    8: "command buffer full",
}


def copy_name(kind: int) -> str:
    """Name of a copy by copyKind."""
    return f"memcpy {COPY_KINDS[kind]}" if kind in COPY_KINDS else "memcpy (kind not recorded)"


def sync_name(kind: int) -> str:
    """Name of a wait by syncType."""
    return SYNC_TYPES.get(kind, f"synchronize (type {kind})")
