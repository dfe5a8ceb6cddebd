"""Parts of a layer by the names around a kernel, else by its own."""

import pytest

from dctx.analyzers.kernel_group import kernel_group


@pytest.mark.parametrize(
    ("name", "way", "expected"),
    [
        ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", ("layer.3.attn",), "communication"),
        ("fmha_v2_flash_attention_bf16", (), "attention"),
        ("nvjet_tst_256x128", (), "matrix product"),
        ("nvjet_tst_256x128", ("layers.3", "self_attn", "aten::mm"), "attention"),
        ("nvjet_tst_256x128", ("layers.3", "mlp.down_proj"), "MLP"),
        ("silu_and_mul_kernel", (), "MLP"),
        ("rmsnorm_kernel", ("step",), "norm"),
        ("elementwise_kernel", (), "other"),
    ],
)
def test_parts(name: str, way: tuple[str, ...], expected: str) -> None:
    assert kernel_group(name, way) == expected
