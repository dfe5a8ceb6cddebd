"""Attention against figures worked out by hand and pairs counted one by one."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctx.analyzers.perf_models.attention import backward_of
from dctx.analyzers.perf_models.attention_work import Attention, attended_pairs
from dctx.analyzers.perf_models.perf import NotKnownError
from dctx.analyzers.perf_models.serving import step_sums
from tests.analyzers.perf_models.calls import (
    BF16,
    FLOAT,
    FP8,
    NONE,
    call,
    perf,
    scalar,
    tensor,
)

FLASH = "aten::_scaled_dot_product_flash_attention"
EFFICIENT = "aten::_scaled_dot_product_efficient_attention"


def attention(n_q: int, n_kv: int, **more: Any) -> Attention:
    return Attention(1, n_q, 1, n_kv, 1, 1, 1, BF16, BF16, True, **more)


def flash(q: tuple[int, ...], kv: tuple[int, ...], causal: bool = False) -> tuple[Any, Any]:
    found = perf(FLASH, tensor(*q), tensor(*kv), tensor(*kv), scalar("0."), scalar(causal))
    return found.flops, found.bytes


def test_square_attention() -> None:
    """B 8, H 16, N 4096, d 128: 2·8·16·4096²·256 operations; four tensors of 64 MiB elements."""
    flops, moved = flash((8, 16, 4096, 128), (8, 16, 4096, 128))
    assert flops == 1_099_511_627_776
    assert moved == 512 * 2**20


def test_a_causal_mask_halves_a_square() -> None:
    assert flash((1, 2, 8, 4), (1, 2, 8, 4), True)[0] == 2 * 2 * 32 * 8


def test_one_query_of_a_grouped_decode_sees_all_keys() -> None:
    """q (1, 32, 1, 128), kv (1, 8, 2048, 128): 2·32·2048·256; Q and the result 32·256 elements, K
    and V 8·2048·256. With the last query at the last key 0.5 pair is missing."""
    q, kv = (1, 32, 1, 128), (1, 8, 2048, 128)
    assert flash(q, kv) == (33_554_432, 8_404_992)
    assert flash(q, kv, True)[0] == 2 * 32 * 2047.5 * 256 == 33_546_240


def test_cross_attention_of_other_lengths_and_widths() -> None:
    """q (2, 4, 6, 8), k (2, 4, 10, 8), v (2, 4, 10, 16): 2·8·60·24."""
    found = perf(FLASH, tensor(2, 4, 6, 8), tensor(2, 4, 10, 8), tensor(2, 4, 10, 16),
                 scalar("0."), scalar(False))  # fmt: skip
    assert found.flops == 2 * 8 * 60 * 24
    assert found.bytes == 2 * (2 * 6 * 4 * 24 + 2 * 10 * 4 * 24)


def test_elements_have_their_own_size_and_a_mask_is_read() -> None:
    found = perf(EFFICIENT, *[tensor(1, 2, 4, 8, dtype=FLOAT)] * 3, tensor(1, 2, 4, 4, dtype=FLOAT),
                 scalar(False), scalar("0."), scalar(False))  # fmt: skip
    assert found.bytes == 4 * (64 * 4 + 32)
    assert found.precision == "fp32"
    narrow = perf("FlashAttnFunc", tensor(1, 4, 2, 8), *[tensor(1, 4, 2, 8, dtype=FP8)] * 2,
                  scalar("0."), NONE, scalar(False), scalar(-1), scalar(-1))  # fmt: skip
    assert narrow.bytes == 128 * 2 + 128


@given(
    st.integers(1, 9), st.integers(1, 9), st.booleans(), st.integers(-1, 5), st.integers(-1, 5),
    st.booleans(),
)  # fmt: skip
def test_windows_see_the_pairs_counted_one_by_one(
    n_q: int, n_kv: int, causal: bool, left: int, right: int, bottom: bool
) -> None:
    if left == right == -1:
        return  # no window
    offset = n_kv - n_q if bottom else 0
    reach = 0 if causal else right
    seen = sum(
        (left == -1 or j >= i + offset - left) and (reach == -1 or j <= i + offset + reach)
        for i in range(n_q)
        for j in range(n_kv)
    )
    of = attention(n_q, n_kv, causal=causal, window=(left, right), bottom_right=bottom)
    assert attended_pairs(of) == seen


@pytest.mark.parametrize(
    ("n_q", "n_kv", "bottom", "pairs"),
    [
        (4, 4, True, 8),
        (4, 10, True, 32),  # 40 - 16 / 2
        (10, 4, True, 8),  # 16 / 2
        (4, 10, False, 8),  # 16 / 2
        (10, 4, False, 32),  # 40 - 16 / 2
    ],
)
def test_causal_rectangles(n_q: int, n_kv: int, bottom: bool, pairs: float) -> None:
    assert attended_pairs(attention(n_q, n_kv, causal=True, bottom_right=bottom)) == pairs


def test_a_window_of_a_library_call() -> None:
    """Causal, 3 keys back, 6 queries and keys: 1 + 2 + 3 + 4 + 4 + 4 pairs."""
    found = perf("flash_attn::_flash_attn_forward", *[tensor(1, 6, 2, 8)] * 3, scalar("0."), NONE,
                 scalar(True), scalar(3), scalar(-1))  # fmt: skip
    assert found.flops == 2 * 2 * 18 * 16
    assert found.params["window"] == (3, -1)


def test_gradients_of_flash_compute_the_scores_again() -> None:
    """q (1, 6, 4, 8), kv (1, 6, 2, 8): 2·4·36·(3·8 + 2·8) + the sum over shared keys 6·16·2;
    Q, dO, dQ and K, V, dK, dV."""
    found = perf("flash_attn::_flash_attn_backward", tensor(1, 6, 4, 8), tensor(1, 6, 4, 8),
                 *[tensor(1, 6, 2, 8)] * 2, *[NONE] * 5, scalar("0."), scalar("0.35"),
                 scalar(False))  # fmt: skip
    assert found.flops == 2 * 4 * 36 * 40 + 192
    assert found.bytes == 2 * (6 * 4 * 24 + 2 * 6 * 2 * 16)


def test_gradients_without_a_recorded_mask_leave_flops_blank() -> None:
    found = perf("aiter::mha_bwd", *[tensor(1, 6, 4, 8)] * 4)
    assert found.flops is None
    assert found.bytes == 2 * (6 * 4 * 24 + 2 * 6 * 4 * 16)
    assert "causal" in found.note


def test_gradients_told_by_the_forward_call() -> None:
    """Not flash: R = 2. 2·2·16·(2·8 + 2·8)."""
    of = call(EFFICIENT, *[tensor(1, 2, 4, 8)] * 3, NONE, scalar(True), scalar("0."), scalar(False))
    assert backward_of(of).flops == 2 * 2 * 16 * 32
    own = perf(f"{EFFICIENT}_backward", *[tensor(1, 2, 4, 8)] * 4, *[NONE] * 5, scalar("0."),
               NONE, scalar(False))  # fmt: skip
    assert own.flops == 2 * 2 * 16 * 32


def test_packed_sequences_of_one_length_are_exact() -> None:
    """3 sequences of 4: 3·16 pairs, 2 heads of 8."""
    found = perf("flash_attn::_flash_attn_varlen_forward", *[tensor(12, 2, 8)] * 3,
                 *[tensor(4, dtype="int")] * 2, scalar(4), scalar(4), scalar("0."), NONE,
                 scalar(False))  # fmt: skip
    assert (found.flops, found.note) == (2 * 2 * 48 * 16, "")


def test_packed_sequences_of_other_lengths_are_a_lower_bound() -> None:
    """10 elements in 3 sequences, the longest 6: 36 + 2·(2·2); the truth is 36 + 9 + 1 at most."""
    found = perf("flash_attn::_flash_attn_varlen_forward", *[tensor(10, 2, 8)] * 3,
                 *[tensor(4, dtype="int")] * 2, scalar(6), scalar(6), scalar("0."), NONE,
                 scalar(False))  # fmt: skip
    assert (found.flops, found.note) == (2 * 2 * 44 * 16, "lower bound")


def test_five_dimensions_are_batches_of_rows() -> None:
    found = perf("EvoformerAttention", *[tensor(1, 3, 4, 2, 8)] * 3)
    assert found.flops == 2 * 3 * 2 * 16 * 16


def test_efficient_attention_tells_its_mask_by_number() -> None:
    arguments = (*[tensor(1, 4, 2, 8)] * 3, *[NONE] * 5, scalar("0."))
    full = perf("aten::_efficient_attention_forward", *arguments, scalar(0))
    causal = perf("aten::_efficient_attention_forward", *arguments, scalar(1))
    assert (full.flops, causal.flops) == (2 * 2 * 16 * 16, 2 * 2 * 8 * 16)


def test_serving_takes_its_sums_from_the_step() -> None:
    """H_Q 32, d 128 + 128; c: 2·23,019,520 - 20,971,520, g: 6,144."""
    step = ("execute_4_context_2(sq5120sk5632sqsq20971520sqsk23019520)"
            "_generation_2(sq2sk6144sqsq2sqsk6144)")  # fmt: skip
    found = perf("vllm::unified_attention_with_output", tensor(5122, 32, 128),
                 *[tensor(5122, 8, 128)] * 2, step=step)  # fmt: skip
    assert found.flops == 205_453_787_136
    context = 5120 * 40 * 256 * 2 + (5632 - 5120) * 8 * 256 * 2
    decode = 2 * 40 * 256 * 2 + (6144 - 2) * 8 * 256 * 2
    assert found.bytes == context + decode
    with pytest.raises(NotKnownError, match="annotation"):
        perf("vllm::unified_attention_with_output", *[tensor(4, 2, 8)] * 3)


def test_steps_of_other_engines() -> None:
    c, g = step_sums("step[DECODE bs=2 g_sq=2 g_sk=30 g_sqsq=2 g_sqsk=30]") or (None, None)
    assert g is not None
    assert (g.sq, g.sk, g.sqsk) == (2, 30, 30)
    assert c is not None
    assert c.sq == 0
    c, _ = step_sums("prefill[bs=1 tok=8 sqsq=64 sqsk=64 sk=8 sq=8]") or (None, None)
    assert c is not None
    assert (c.sq, c.sqsq) == (8, 64)
    assert step_sums("step[DECODE bs=32]") is None


def test_storing_keys_and_values_moves_them_twice() -> None:
    found = perf("sglang::store_cache", tensor(32, 1024), tensor(32, 1024))
    assert (found.flops, found.bytes) == (0, 4 * 32 * 1024 * 2)


def test_gated_delta_attention() -> None:
    found = perf("vllm::gdn_attention_core", *[tensor(5, 4, 16)] * 2, tensor(5, 4, 8))
    assert (found.flops, found.bytes) == (5 * 4 * 7 * 8 * 16, 5 * 4 * (16 + 16 + 2) * 2)
