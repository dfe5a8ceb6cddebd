"""The function behind a range."""

import pytest

from dctx.analyzers.sources import source_function


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("_prepare_tp_inputs", "PyTorchModelEngine._prepare_tp_inputs"),
        ("_update_requests", "PyExecutor._update_requests"),
        ("prepare_resources", "ResourceManager.prepare_resources"),
        ("_write_finish_reasons", "TorchSampler._write_finish_reasons"),
        ("[Executor] _forward_step #: # ctx reqs, # gen reqs", "PyExecutor._forward_step"),
        ("gpu_model_runner: preprocess", "GPUModelRunner.preprocess"),
        ("v2_gpu_model_runner: prepare_attn", "GPUModelRunner.prepare_attn"),
        ("scheduler.run_batch", "Scheduler.run_batch"),
        (
            "megatron.core.transformer.attention.forward.qkv",
            "megatron.core.transformer.attention.forward.qkv",
        ),
        ("forward", None),
        ("aten::mm", None),
        ("layer.#.attn", None),
        ("scheduler.run batch", None),
        ("", None),
    ],
)
def test_known_ranges_and_no_guesses(name: str, function: str | None) -> None:
    assert source_function(name) == function


def test_the_users_map_comes_first() -> None:
    own = {"_update_requests": "mine.update", "my_prepare": "engine.Runner.prepare"}
    assert source_function("_update_requests", own) == "mine.update"
    assert source_function("my_prepare", own) == "engine.Runner.prepare"
    assert source_function("_schedule", own) == "PyExecutor._schedule"
