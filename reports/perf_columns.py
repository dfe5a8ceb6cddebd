"""Columns of what operators compute and move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .sheet_context import Context
from .sheets import Column

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..analyzers.op_groups import Rates
    from ..analyzers.perf_figures import Figures
    from ..analyzers.perf_summary import PerfSummary

_MIB: Final = 1 << 20
FAMILIES: Final[dict[str, tuple[str, ...]]] = {
    name: tuple(params.split())
    for name, params in {
        "GEMM": "M N K bias stride_A stride_B dtype_A_B B transpose",
        "CONV_fwd": "convNd input_shape filter_shape dtype_input_weight input_stride weight_stride "
        "bias stride padding dilation transposed_conv output_padding groups",
        "CONV_bwd": "convNd input_shape filter_shape dtype_input_weight input_stride weight_stride "
        "bias stride padding dilation transposed_conv output_padding groups output_mask",
        "SDPA_fwd": "B N_Q H_Q N_KV H_KV d_h_qk d_h_v q_stride k_stride v_stride dropout causal "
        "flash_impl dtype_A_B num_seqs_q num_seqs_kv max_seqlen_q max_seqlen_kv window",
        "SDPA_bwd": "B N_Q H_Q N_KV H_KV d_h_qk d_h_v q_stride k_stride v_stride dropout causal "
        "flash_impl dtype_A_B num_seqs_q num_seqs_kv max_seqlen_q max_seqlen_kv window",
        "InferenceAttention_fwd": "B N_Q H_Q H_V H_K N_KV H_KV d_h_qk d_h_v dropout causal "
        "flash_impl c_sq c_sk c_sqsq c_sqsk g_sq g_sk g_sqsq g_sqsk dtype_Q dtype_KV",
        "UnaryElementwise": "op_shape dtype_in_out stride_input stride_output input_shape "
        "output_shape padding",
        "BinaryElementwise": "shape_in1 shape_in2 dtype_in1_in2_out stride_input1 stride_input2 "
        "stride_output",
        "Normalization": "op_shape dtype_in_out stride_input stride_output num_channels has_bias "
        "is_affine is_training output_mask",
        "RMSNorm_fwd": "op_shape dtype_in_out stride_input stride_output num_channels has_bias "
        "is_affine is_training",
        "Reduce_fwd": "num_input_elems num_output_elems dtype_in_out reduce_type",
        "Reduce_bwd": "num_input_elems num_output_elems dtype_in_out reduce_type",
        "GroupedGEMM_fwd": "M K N G bpe_in bpe_out",
        "GroupedGEMM_bwd": "M K N G bpe_in bpe_out",
        "MoE_fused_fwd": "num_tokens hidden_dim inter_dim num_experts topk gated input_dtype "
        "weight_dtype",
        "MoE_unfused_fwd": "num_tokens hidden_dim inter_dim num_experts topk gated input_dtype "
        "weight_dtype",
        "MoE_comm_fwd": "num_tokens hidden_dim bpe",
        "RoPE_fwd": "num_elements",
        "CrossEntropy_fwd": "batch vocab_size logits_shape",
        "SSM_fwd": "",
        "GroupQuant_fwd": "num_elements num_groups dtype_in_out",
        "CustomCollective_fwd": "num_elements num_output_elems",
        "Triton": "fused_ops xnumel rnumel",
    }.items()
}
"""Parameters in order; those that no row has are left out, others follow."""
FIVE: Final = (
    ("mean", "mean"),
    ("median", "median"),
    ("std", "std"),
    ("min", "low"),
    ("max", "high"),
)


def parameters(name: str, found: PerfSummary) -> list[Column]:
    sets: list[dict[str, Any]] = [dict(f.params) if f else {} for f in found.figures]
    present = dict.fromkeys(key for params in sets for key in params)
    order = [key for key in FAMILIES.get(name, ()) if key in present]
    order += [key for key in present if key not in order]
    ours = {"output_mask", "window"} if name.startswith(("CONV", "SDPA")) else set[str]()
    return [
        Column(f"param: {key}", [_literal(params.get(key)) for params in sets], "", key in ours)
        for key in order
    ]


def _literal(value: Any) -> Any:
    """Numbers, texts and truth values as they are, the rest as a Python literal."""
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)


def perf_params(of: Figures | None) -> str | None:
    return repr(dict(of.params)) if of is not None and of.params else None


def work(found: PerfSummary, tail: str) -> list[Column]:
    known = found.figures
    flops = [None if f is None else f.flops for f in known]
    moved = [None if f is None else f.bytes for f in known]
    return [
        Column(f"GFLOPS{tail}", [None if v is None else v / 1e9 for v in flops], "10^9"),
        Column(f"Data Moved (MB){tail}", [None if v is None else v / _MIB for v in moved], "MiB"),
        Column(
            f"FLOPS/Byte{tail}",
            [f / b if f is not None and b else None for f, b in zip(flops, moved, strict=True)],
        ),
        *([Column("Compute Spec", [f.spec if f else None for f in known])] if not tail else []),
    ]


def rates(name: str, of: Any, words: tuple[str, ...], scale: float = 1) -> list[Column]:
    fields = dict(FIVE)
    unit = "µs" if "µs" in name else name.removesuffix("_")
    return [
        Column(f"{name}_{word}", blank(getattr(of, fields[word]) / scale), unit) for word in words
    ]


def blank(values: NDArray[np.float64]) -> list[float | None]:
    """NaN is blank."""
    return [None if v != v else v for v in values.tolist()]


def bound(context: Context, found: PerfSummary, tail: str) -> list[Column]:
    if context.architecture is None:
        return []
    bounds = [r.bound if r else None for r in found.rooflines]
    return [Column(f"Roofline Bound{tail}", bounds)]


def roofline(context: Context, found: PerfSummary, *, with_bound: bool = False) -> list[Column]:
    if context.architecture is None:
        return []
    times = [r.time_us if r else None for r in found.rooflines]
    return [
        Column("Roofline Time (µs)_first", times, "µs"),
        *(bound(context, found, "_first") if with_bound else []),
        *_percents(found.percent),
    ]


def _percents(percent: Rates) -> list[Column]:
    return [
        Column(f"Pct Roofline_{word}", blank(getattr(percent, field)), "%") for word, field in FIVE
    ]


def added(context: Context, found: PerfSummary) -> list[Column]:
    """What TraceLens does not have."""
    columns = [
        Column("TFLOPS/s_agg", blank(found.tflops_total), "TFLOPS/s", True),
        Column("TB/s_agg", blank(found.tbytes_total), "TB/s", True),
    ]
    if context.architecture is not None:
        basis = [r.basis if r else None for r in found.rooflines]
        columns.append(Column("Roofline Basis", basis, "", True))
    return [*columns, Column("model_note", [note or None for note in found.notes], "", True)]
