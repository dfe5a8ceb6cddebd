"""The sheets of what operators compute and move: all together, and by family."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..analyzers.perf_summary import PerfSummary, families, parameter_sets, summarise
from .kernel_sheets import kernel_details
from .op_columns import argument_columns, ids, label, one_name, shares
from .sheet_context import ARGUMENTS, Context, as_us
from .sheets import Column
from .splits import KERNELS, MODULE, RECOMPUTE, split_columns, splits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..analyzers.op_groups import Rates
    from ..analyzers.perf_figures import Figures
    from ..analyzers.perf_table import PerfTable

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
_OURS: Final = frozenset({"Triton"})
_FIVE: Final = (
    ("mean", "mean"),
    ("median", "median"),
    ("std", "std"),
    ("min", "low"),
    ("max", "high"),
)


def unified(context: Context) -> list[Column]:
    """Each piece of work but communication in one row."""
    perf = context.device.exclusive
    table = perf.table
    member = np.arange(len(table.host), dtype=np.int64)
    keys = [table.name, table.category]
    keys += [context.arguments(table.host, field) for _, field in ARGUMENTS]
    lane = context.lane(table.host)
    if context.options.rules.by_thread:
        keys.append(lane)
    # Calls with equal arguments differ where the serving step around them tells their lengths.
    if not context.options.tracelens:
        keys.append(perf.step)
    apart = splits(context, table.host, table.count)
    found = _summary(context, perf, member, [*keys, *(s.ids for s in apart)])
    groups, first = found.groups, found.row
    kernel, host = found.kernel_ns, found.host_ns
    return [
        Column("name", [table.names[i] for i in table.name[first].tolist()]),
        Column("op category", [table.categories[i] for i in table.category[first].tolist()]),
        *split_columns(apart, first, MODULE),
        Column("process_name", one_name(groups, lane, context.process)),
        *label(context, len(first)),
        Column("thread_name", one_name(groups, lane, context.thread)),
        *argument_columns(context, table.host[first]),
        *split_columns(apart, first, KERNELS, RECOMPUTE),
        Column("ex_UID", ids(table.host[first])),
        Column("operation_count", groups.count.tolist()),
        Column("total_duration_us", as_us(found.host_total_ns), "µs"),
        Column("mean_duration_us", as_us(host.mean), "µs"),
        Column("std_duration_us", as_us(host.std), "µs"),
        *_work(found, ""),
        *_bound(context, found, ""),
        *_rates("TB/s", found.tbytes, ("mean", "std")),
        *_rates("TFLOPS/s", found.tflops, ("mean", "std")),
        Column("Kernel Time (µs)_mean", as_us(kernel.mean), "µs"),
        Column("Kernel Time (µs)_std", as_us(kernel.std), "µs"),
        Column("Kernel Time (µs)_sum", as_us(kernel.total), "µs"),
        Column("duration_us_median", as_us(host.median), "µs"),
        Column("duration_us_min", as_us(host.low), "µs"),
        Column("duration_us_max", as_us(host.high), "µs"),
        *_rates("TB/s", found.tbytes, ("median", "min", "max")),
        *_rates("TFLOPS/s", found.tflops, ("median", "min", "max")),
        *_roofline(context, found),
        Column("Kernel Time (µs)_median", as_us(kernel.median), "µs"),
        Column("Kernel Time (µs)_min", as_us(kernel.low), "µs"),
        Column("Kernel Time (µs)_max", as_us(kernel.high), "µs"),
        *kernel_details(context, groups, table.row),
        Column("perf_params", [_params(f) for f in found.figures]),
        Column("has_perf_model", [f is not None for f in found.figures]),
        *shares(kernel.total),
        *_added(context, found),
    ]


def family(context: Context, name: str) -> list[Column]:
    """The operators of one family by their parameters."""
    perf = _family_table(context)
    table = perf.table
    member = families(perf).get(name, np.zeros(0, np.int64))
    if context.options.tracelens:
        # A model that fails takes its operator out of the sheet.
        told = np.array([bool(f.params) for f in perf.figures] + [False])
        member = member[told[perf.figure[member]]]
    told_name = np.where(perf.forward >= 0, perf.forward, table.host)[member]
    name_id = np.append(context.report.host.name, np.int32(-1))[told_name]
    apart = splits(context, table.host, table.count)
    keys = [name_id, parameter_sets(perf)[member], *(s.ids[member] for s in apart)]
    found = _summary(context, perf, member, keys)
    groups, first = found.groups, found.row
    host = np.where(perf.forward >= 0, perf.forward, table.host)[first].astype(np.int32)
    lane, kernel = context.lane(host), found.kernel_ns
    return [
        Column("name", [context.text(i) for i in name_id[groups.first].tolist()]),
        *_parameters(name, found),
        *split_columns(apart, first, MODULE, KERNELS, RECOMPUTE),
        *_work(found, "_first"),
        *_rates("TB/s", found.tbytes, ("mean", "median", "std", "min", "max")),
        *_rates("TFLOPS/s", found.tflops, ("mean", "median", "std", "min", "max")),
        Column("process_name_first", [context.process(i) for i in lane.tolist()]),
        *label(context, len(first), "_first"),
        Column("thread_name_first", [context.thread(i) for i in lane.tolist()]),
        Column("Compute Spec", [f.spec if f else None for f in found.figures]),
        *_roofline(context, found, bound=True),
        *argument_columns(context, host, "_first"),
        *_rates("Kernel Time (µs)", kernel, ("mean", "median", "std", "min", "max"), 1000),
        Column("Kernel Time (µs)_sum", as_us(kernel.total), "µs"),
        Column("name_count", groups.count.tolist()),
        Column("UID_first", ids(host)),
        *_added(context, found),
    ]


def family_names(context: Context) -> list[str]:
    """The families that this device has, those with a fixed place first."""
    found = families(_family_table(context))
    known = [name for name in FAMILIES if name in found]
    return [n for n in [*known, *sorted(found.keys() - FAMILIES.keys())]
            if not (context.options.tracelens and n in _OURS)]  # fmt: skip


def architecture_text(context: Context) -> str:
    """What the rooflines of a device rest on, and why there are none."""
    device, found = context.device, context.architecture
    label = f"device {device.device}"
    if found is None:
        name = device.name or "its name is not recorded"
        return f"{label}: not known ({name}); no rooflines. --arch names one"
    chosen = context.options.architecture is not None
    why = "asked for" if chosen else f"by the name {device.name}"
    source = f"; {found.source}" if found.source else ""
    return f"{label}: {found.name}, {why}; {found.bandwidth_gbps:g} GB/s{source}"


def _family_table(context: Context) -> PerfTable:
    every = context.options.rules.all_instances
    return context.device.instances if every else context.device.exclusive


def _summary(
    context: Context,
    perf: PerfTable,
    member: NDArray[np.int64],
    keys: list[NDArray[np.int32]],
) -> PerfSummary:
    architecture = context.architecture
    return summarise(
        perf, member, keys, context.report.host, architecture, tracelens=context.options.tracelens
    )


def _parameters(name: str, found: PerfSummary) -> list[Column]:
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


def _params(of: Figures | None) -> str | None:
    return repr(dict(of.params)) if of is not None and of.params else None


def _work(found: PerfSummary, tail: str) -> list[Column]:
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


def _rates(name: str, of: Any, words: tuple[str, ...], scale: float = 1) -> list[Column]:
    fields = dict(_FIVE)
    unit = "µs" if "µs" in name else name.removesuffix("_")
    return [
        Column(f"{name}_{word}", _blank(getattr(of, fields[word]) / scale), unit) for word in words
    ]


def _blank(values: NDArray[np.float64]) -> list[float | None]:
    """NaN is blank."""
    return [None if v != v else v for v in values.tolist()]


def _bound(context: Context, found: PerfSummary, tail: str) -> list[Column]:
    if context.architecture is None:
        return []
    bounds = [r.bound if r else None for r in found.rooflines]
    return [Column(f"Roofline Bound{tail}", bounds)]


def _roofline(context: Context, found: PerfSummary, *, bound: bool = False) -> list[Column]:
    if context.architecture is None:
        return []
    times = [r.time_us if r else None for r in found.rooflines]
    return [
        Column("Roofline Time (µs)_first", times, "µs"),
        *(_bound(context, found, "_first") if bound else []),
        *_percents(found.percent),
    ]


def _percents(percent: Rates) -> list[Column]:
    return [
        Column(f"Pct Roofline_{word}", _blank(getattr(percent, field)), "%")
        for word, field in _FIVE
    ]


def _added(context: Context, found: PerfSummary) -> list[Column]:
    """What TraceLens does not have."""
    columns = [
        Column("TFLOPS/s_agg", _blank(found.tflops_total), "TFLOPS/s", True),
        Column("TB/s_agg", _blank(found.tbytes_total), "TB/s", True),
    ]
    if context.architecture is not None:
        basis = [r.basis if r else None for r in found.rooflines]
        columns.append(Column("Roofline Basis", basis, "", True))
    return [*columns, Column("model_note", [note or None for note in found.notes], "", True)]
