"""Analyzers of GPU work itself: where they fire, what they say it may gain, and where they must
not."""

from pathlib import Path
from typing import Any

from dctx.analyzers.findings import Weight
from tests.kineto_files import Event
from tests.kineto_files import op as plain_op
from tests.near import near
from tests.planted import (
    ADD,
    COPY,
    GEMM,
    NCCL,
    REDUCE,
    SOFTMAX,
    Program,
    annotation,
    found,
    gain_us,
    op,
    places,
    python,
)

NCHW = "void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true>"


def shaped(*sizes: list[int], kind: str = "float") -> Any:
    """Makes an operator with recorded arguments."""

    def make(name: str, ts: float, dur: float) -> Event:
        arguments: dict[str, Any] = {
            "Input Dims": list(sizes),
            "Input type": [kind] * len(sizes),
            "Concrete Inputs": [""] * len(sizes),
        }
        return plain_op(name, ts, dur, **arguments)

    return make


def small_loss(program: Program) -> None:
    """A loss of eight kernels of 4 µs."""
    with program.within(python, "losses.py(5): loss"):
        for name in (SOFTMAX, ADD, COPY, REDUCE) * 2:
            with program.within(op, "aten::_softmax" if name == SOFTMAX else "aten::add"):
                program.launch(name, 4)


def test_many_small_kernels_under_one_function_are_to_be_fused(tmp_path: Path) -> None:
    program = Program()
    for _ in range(3):
        with program.within(python, "train.py(1): step"):
            program.launch(GEMM, 10)
            small_loss(program)
    facts = program.facts(tmp_path)
    finding = found(facts, "kernel-fusion")
    assert places(facts, finding) == ["loss"]
    # A launch every 7 from 7 after that of the product, which ends at 15: from the third on the GPU
    # pauses for 3 before each. Of the eight kernels of 4 a visit one is left.
    assert gain_us(finding) == 3 * 6 * 3 + 3 * 7 * 4
    assert finding is not None
    assert "fused loss" in finding.remedy


def test_large_kernels_are_not_to_be_fused(tmp_path: Path) -> None:
    program = Program()
    for _ in range(3):
        with program.within(python, "losses.py(5): loss"):
            for name in (SOFTMAX, ADD, COPY, REDUCE) * 2:
                program.launch(name, 40)
    assert found(program.facts(tmp_path), "kernel-fusion") is None


def test_a_chain_of_elementwise_kernels_can_gain_all_but_its_longest(tmp_path: Path) -> None:
    program = Program()
    for _ in range(2):
        with program.within(python, "model.py(4): gelu"):
            for us in (30, 50, 20, 40):
                with program.within(op, "aten::mul"):
                    program.launch(ADD, us)
        with program.within(op, "aten::mm"):
            program.launch(GEMM, 300)
    facts = program.facts(tmp_path)
    finding = found(facts, "elementwise-chain")
    assert gain_us(finding) == 2 * (30 + 20 + 40)
    assert places(facts, finding) == ["gelu"]


def test_single_elementwise_kernels_are_no_chain(tmp_path: Path) -> None:
    program = Program()
    for _ in range(4):
        with program.within(op, "aten::add"):
            program.launch(ADD, 50)
            program.launch(ADD, 50)
            program.launch(GEMM, 50)
    assert found(program.facts(tmp_path), "elementwise-chain") is None


def test_layout_conversions_around_convolutions_lead_to_channels_last(tmp_path: Path) -> None:
    program = Program()
    for _ in range(3):
        with program.within(python, "unet.py(8): block"):
            with program.within(op, "aten::cudnn_convolution"):
                program.launch(NCHW, 20)
                program.launch("sm80_xmma_fprop_implicit_gemm_f32_nhwckrsc_nhwc", 90)
            with program.within(op, "aten::contiguous"), program.within(op, "aten::copy_"):
                program.launch(COPY, 10)
    facts = program.facts(tmp_path)
    finding = found(facts, "layout-conversion")
    assert gain_us(finding) == 3 * (20 + 10)
    assert places(facts, finding) == ["aten::cudnn_convolution", "block"]
    assert finding is not None
    assert "channels_last" in finding.remedy
    assert next(row.name for row in finding.evidence if row.kind is not None) == NCHW


def test_convolutions_without_conversions_and_casts_are_no_layout(tmp_path: Path) -> None:
    program = Program()
    for _ in range(3):
        with program.within(op, "aten::cudnn_convolution"):
            program.launch("sm80_xmma_fprop_implicit_gemm_f32_nhwckrsc_nhwc", 90)
        with program.within(op, "aten::_to_copy"), program.within(op, "aten::copy_"):
            program.launch(COPY, 50)
    facts = program.facts(tmp_path)
    assert found(facts, "layout-conversion") is None
    casts = found(facts, "type-casts")
    assert gain_us(casts) == 3 * 50
    assert places(facts, casts) == ["aten::_to_copy"]


def test_copies_to_the_device_are_no_casts(tmp_path: Path) -> None:
    program = Program()
    for _ in range(3):
        with program.within(op, "aten::_to_copy"), program.within(op, "aten::copy_"):
            program.launch("Memcpy HtoD (Pageable -> Device)", 50, cat="gpu_memcpy")
        program.launch(GEMM, 50)
    assert found(program.facts(tmp_path), "type-casts") is None


def test_exposed_communication_is_what_no_kernel_covers(tmp_path: Path) -> None:
    program = Program()
    for _ in range(2):
        with program.within(op, "nccl:all_reduce"):
            program.launch(NCCL, 200, stream=20)
        program.launch(GEMM, 50)
    facts = program.facts(tmp_path)
    finding = found(facts, "exposed-communication")
    # 400 of communication without a pause; the products start 6 and 18 later and run at once.
    assert gain_us(finding) == 2 * (200 - 50)
    assert places(facts, finding) == [NCCL]


def test_hidden_communication_is_none(tmp_path: Path) -> None:
    program = Program()
    program.launch(GEMM, 500)
    program.launch(NCCL, 200, stream=20)
    assert found(program.facts(tmp_path), "exposed-communication") is None


def test_the_rank_that_computes_longest_is_named(tmp_path: Path) -> None:
    program = Program()
    program.launch(GEMM, 900, on=0)
    program.launch(GEMM, 300, on=1)
    for on in (0, 1):
        program.launch(NCCL, 1000 - 600 * (1 - on), on=on, stream=20)
    facts = program.facts(tmp_path)
    finding = found(facts, "rank-imbalance")
    assert finding is not None
    assert finding.sentence.startswith("GPU 0 computes 900.0 µs")
    assert [(row.what, row.value) for row in finding.evidence] == [
        ("computation, GPU 0", 0.9),
        ("computation, GPU 1", 0.3),
    ]
    # The other one computes 600 less, and waits longer than that for communication.
    assert gain_us(finding) == 600


def test_even_ranks_are_none(tmp_path: Path) -> None:
    program = Program()
    for on in (0, 1):
        program.launch(GEMM, 900, on=on)
        program.launch(NCCL, 400, on=on, stream=20)
    assert found(program.facts(tmp_path), "rank-imbalance") is None


def test_a_product_of_few_tiles_leaves_the_device_empty(tmp_path: Path) -> None:
    program = Program()
    for _ in range(2):
        with program.within(shaped([256, 1024], [1024, 512], kind="c10::BFloat16"), "aten::mm"):
            program.launch("nvjet_hsh_128x256_64x4_1x2_h_bz_TNT", 40)
    facts = program.facts(tmp_path)
    finding = found(facts, "matrix-shapes")
    # 2 x 4 tiles for 132 multiprocessors; the roofline of an H100 leaves more than that.
    assert round(gain_us(finding), 1) == round(2 * 40 * (1 - 8 / 132), 1)
    assert places(facts, finding) == ["aten::mm"]
    assert finding is not None
    assert "M 256 N 512 K 1024" in finding.sentence


def test_a_product_of_odd_sizes_is_misaligned(tmp_path: Path) -> None:
    program = Program()
    arguments = shaped([4096, 1023], [1023, 4097], kind="c10::BFloat16")
    with program.within(arguments, "aten::mm"):
        program.launch("nvjet_hsh_128x256_64x4_1x2_h_bz_TNT", 400)
    finding = found(program.facts(tmp_path), "matrix-shapes")
    assert finding is not None
    assert "multiples of 8" in finding.sentence
    assert 0 < gain_us(finding) < 400


def test_a_large_even_product_is_none(tmp_path: Path) -> None:
    program = Program()
    with program.within(shaped([8192, 4096], [4096, 4096], kind="c10::BFloat16"), "aten::mm"):
        program.launch("nvjet_hsh_128x256_64x4_1x2_h_bz_TNT", 600)
    assert found(program.facts(tmp_path), "matrix-shapes") is None


def test_products_in_single_precision_could_use_the_tensor_cores(tmp_path: Path) -> None:
    program = Program()
    with program.within(shaped([4096, 4096], [4096, 4096]), "aten::mm"):
        program.launch(GEMM, 3000)
    facts = program.facts(tmp_path)
    finding = found(facts, "fp32-matmul")
    assert finding is not None
    assert 0 < gain_us(finding) < 3000
    assert places(facts, finding) == ["aten::mm"]


def test_products_in_tf32_are_none(tmp_path: Path) -> None:
    program = Program()
    with program.within(shaped([4096, 4096], [4096, 4096]), "aten::mm"):
        program.launch("sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x32", 3000)
    assert found(program.facts(tmp_path), "fp32-matmul") is None


def test_hot_operators_tell_the_time_above_the_roofline(tmp_path: Path) -> None:
    program = Program()
    for _ in range(2):
        with program.within(shaped([1 << 24], [1 << 24]), "aten::add"):
            program.launch(ADD, 500)
        with program.within(op, "aten::tiny"):
            program.launch(REDUCE, 20)
    facts = program.facts(tmp_path)
    finding = found(facts, "hotspot")
    assert places(facts, finding) == ["aten::add"]
    limits = facts.limits_of(facts.devices[0].report.name)
    assert limits is not None
    least = 3 * 4 * (1 << 24) / (limits.bandwidth_gbps * 1e3)
    assert abs(gain_us(finding) - 2 * (500 - least)) < 0.01


def test_without_a_heavy_context_there_is_no_hot_one(tmp_path: Path) -> None:
    program = Program()
    for number in range(20):
        with program.within(op, f"aten::op_{chr(97 + number)}"):
            program.launch(ADD, 100)
    assert found(program.facts(tmp_path), "hotspot") is None


def test_a_constant_made_again_is_duplicated_work(tmp_path: Path) -> None:
    program = Program()
    for _ in range(4):
        with program.within(shaped([], []), "aten::arange"):
            program.launch(ADD, 100)
        with program.within(op, "aten::mm"):
            program.launch(GEMM, 300)
    facts = program.facts(tmp_path)
    finding = found(facts, "duplicated-work")
    assert gain_us(finding) == 3 * 100  # no pause is before any of them
    assert places(facts, finding) == ["aten::arange"]


def test_different_constants_are_none(tmp_path: Path) -> None:
    program = Program()
    for number in range(4):
        with program.within(shaped([number + 1]), "aten::arange"):
            program.launch(ADD, 100)
    assert found(program.facts(tmp_path), "duplicated-work") is None


def test_steps_are_no_places(tmp_path: Path) -> None:
    """A range of a whole step tells nothing: neither a hot spot nor work to be fused."""
    program = Program()
    with program.within(annotation, "ProfilerStep#3"):
        for _ in range(30):
            program.launch(ADD, 4)
            program.launch(REDUCE, 4)
    facts = program.facts(tmp_path)
    assert found(facts, "hotspot") is None
    assert found(facts, "kernel-fusion") is None


def test_operators_near_the_roofline_are_a_hint(tmp_path: Path) -> None:
    program = Program()
    size = 1 << 26
    least_us = 3 * 4 * size / 3.35e6  # the memory of an H100
    for _ in range(3):
        with program.within(shaped([size], [size]), "aten::add"):
            program.launch(ADD, round(least_us / 0.8))
    finding = found(program.facts(tmp_path), "hotspot")
    assert finding is not None
    assert finding.gain is not None
    assert finding.gain.share > 0.1
    assert finding.weight is Weight.HINT
    reached = found(program.facts(tmp_path), "hotspot", near=0.9)
    assert reached is not None
    assert reached.weight is Weight.SEVERE


def test_places_that_read_alike_are_one(tmp_path: Path) -> None:
    """The same operator below two functions, and one that takes less than both together."""
    program = Program()
    for function, name, us in (("a", "aten::mm", 300), ("b", "aten::mm", 300), ("b", "my::x", 400)):
        with program.within(python, f"model.py(1): {function}"), program.within(op, name):
            program.launch(GEMM, us)
    facts = program.facts(tmp_path)
    finding = found(facts, "hotspot")
    assert finding is not None
    assert finding.sentence.startswith(
        "2 contexts take 100.0 % of the GPU time, most aten::mm with 60.0 %."
    )
    assert [(row.what, row.value) for row in finding.evidence] == [
        ("aten::mm", 0.6),
        ("my::x", 0.4),
    ]


def test_a_context_without_a_name_is_no_place(tmp_path: Path) -> None:
    program = Program()
    with program.within(python, "model.py(4): gelu"), program.within(op, ""):
        for us in (30, 50, 20):
            with program.within(op, "aten::mul"):
                program.launch(ADD, us)
    facts = program.facts(tmp_path)
    finding = found(facts, "elementwise-chain")
    assert places(facts, finding) == ["gelu"]
    assert finding is not None
    assert "most to gain in gelu (model.py:4)" in finding.sentence


def test_the_operator_with_a_model_may_be_around_the_hot_one(tmp_path: Path) -> None:
    """Attention: the inner operator launches, the outer one has the arguments."""
    program = Program()
    sizes = [[1, 16, 8192, 128]] * 3
    outer = shaped(*sizes, kind="c10::BFloat16")
    for _ in range(2):
        with (
            program.within(outer, "aten::_scaled_dot_product_flash_attention"),
            program.within(op, "aten::_flash_attention_forward"),
        ):
            program.launch("flash_fwd_kernel", 5000)
    facts = program.facts(tmp_path)
    finding = found(facts, "hotspot")
    assert places(facts, finding) == ["aten::_flash_attention_forward"]
    limits = facts.limits_of(facts.devices[0].report.name)
    assert limits is not None
    rate = limits.rate("matrix_bf16")
    assert rate is not None
    least_us = 4 * 16 * 8192 * 8192 * 128 / (rate.tflops * 1e6)
    assert gain_us(finding) == near(2 * (5000 - least_us), 1e-3)
