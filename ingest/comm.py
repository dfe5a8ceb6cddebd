"""Which kernels communicate, told by their names."""

import re

_COMMUNICATION = re.compile(
    r"nccl|rccl|msccl|all_?reduce|cross_device_reduce|multimem_|"
    r"(?:one|two)_?shot_(?:all_?)?reduce|quick_?reduce|nvshmem|rocshmem|symm_mem|deep_?ep",
    re.IGNORECASE,
)


def is_communication(kernel_name: str) -> bool:
    """True for kernels that move data between GPUs: NCCL, RCCL, MSCCL, all-reduce in one or two
    shots, quick reduce, NVSHMEM, ROCSHMEM, symmetric memory, DeepEP."""
    return _COMMUNICATION.search(kernel_name) is not None
