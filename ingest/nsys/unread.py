"""Why the rows of a table that nothing reads are not used."""

from typing import Final

_REASONS: Final = (
    ("ENUM_", "code_labels"),
    ("UnwindMethodType", "code_labels"),
    ("ProcessStreams", "private"),
    ("ANALYSIS_FILE", "private"),
    ("ANALYSIS_DETAILS", "other_clock"),
    ("TARGET_INFO_", "not_shown"),
    ("CUPTI_ACTIVITY_KIND_CUDA_EVENT", "not_shown"),
    ("OSRT_CALLCHAINS", "outside_call_tree"),
    ("CUDA_CALLCHAINS", "no_call"),
    ("SAMPLING_CALLCHAINS", "no_sample"),
    ("NVTX_PAYLOAD_", "no_binary_payload"),
    ("DYNAMIC_NVTXPAYLOAD_DATATYPE_", "dynamic_payload"),
    # Of a device or of a process, and partly without an end: no interval of a thread.
    ("GPU_CONTEXT_SWITCH", "no_thread_interval"),
    ("FECS_EVENTS", "no_thread_interval"),
    ("CUDA_UM_", "no_thread_interval"),
    ("NET_", "no_thread_interval"),
    ("NIC_", "no_thread_interval"),
)
"""By the beginning of the table's name. Labels of codes are dctx's own; what the program printed
and its environment stay where they are."""
_UNKNOWN: Final = "not_read"


def unread_reason(table: str) -> str:
    """Name of the reason to count the rows of `table` under."""
    return next((reason for start, reason in _REASONS if table.startswith(start)), _UNKNOWN)
