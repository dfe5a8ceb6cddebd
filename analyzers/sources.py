"""Which function of the program a range stands for. What is not known is None, never guessed."""

from __future__ import annotations

import re
from collections.abc import Mapping

_EXECUTOR = (
    "_forward_step",
    "_schedule",
    "_update_requests",
    "_process_requests",
    "_handle_responses",
    "_sample_async",
)
_KNOWN = {
    "_prepare_inputs": "PyTorchModelEngine._prepare_inputs",
    "_prepare_tp_inputs": "PyTorchModelEngine._prepare_tp_inputs",
    "_fetch_new_requests": "PyExecutor._fetch_new_requests or "
    "ExecutorRequestQueue.fetch_new_requests, by version",
    "broadcast_requests": "PyExecutor._broadcast_requests or "
    "ExecutorRequestQueue._broadcast_requests, by version",
    "prepare_resources": "ResourceManager.prepare_resources",
    "_write_finish_reasons": "TorchSampler._write_finish_reasons",
    **{name: f"PyExecutor.{name}" for name in _EXECUTOR},
}
"""Ranges of TensorRT-LLM's PyTorch backend."""

_TRTLLM_STEP = re.compile(r"\[Executor\] _forward_step\b")
_VLLM = re.compile(r"(?:v2_)?gpu_model_runner: (\w+)$")
_SGLANG = re.compile(r"scheduler\.(\w+)$")
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*){2,}$")
"""Megatron names its ranges by the dotted path of the function."""


def source_function(name: str, user: Mapping[str, str] | None = None) -> str | None:
    """The function behind a range's name; the user's own map comes first."""
    if user and name in user:
        return user[name]
    if name in _KNOWN:
        return _KNOWN[name]
    if _TRTLLM_STEP.match(name):
        return "PyExecutor._forward_step"
    if found := _VLLM.match(name):
        return f"GPUModelRunner.{found[1]}"
    if found := _SGLANG.match(name):
        return f"Scheduler.{found[1]}"
    return name if _DOTTED.match(name) else None
