"""Rows that lead from one view to another: kernels by name, call paths."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...ingest.model import GpuKind, Layer
from ...reports import format as fmt
from ..looking import Target
from ..widgets.row_list import Row

if TYPE_CHECKING:  # the first screen imports as little as it can
    from ...queries.kernels import Caller, OpStat
    from ...queries.operators import OperatorStat
    from ...queries.overview import HostPath, TopPath
    from ...reports.verdict_card import Lead

OP_HEADING = f"{'share':>7} {'time':>9} {'count':>7} {'mean':>9}  name"
OPERATOR_HEADING = f"{'share':>7} {'GPU':>9} {'host':>9} {'calls':>7}  name"
PATH_HEADING = f"{'share':>7} {'time':>9} {'kernels':>7}  path"
HOST_PATH_HEADING = f"{'share':>7} {'own time':>9} {'calls':>7}  path"
_OPERATORS = frozenset({Layer.OP, Layer.HLO})
CALLER_HEADING = f"{'share':>7} {'time':>9} {'count':>7}  path"


def target_of(lead: "Lead") -> Target:
    """What the view of a lead is to show."""
    if lead.op is None:
        return Target(node=lead.node)
    kind, name = lead.op
    return Target(op=(GpuKind(kind), name))


def op_rows(ops: Sequence["OpStat"]) -> list[Row]:
    """Under `OP_HEADING`; each leads to the Kernels view."""
    return [
        Row(
            op.name,
            f"{fmt.share(op.share):>7} {fmt.duration(op.sum_ns):>9} "
            f"{fmt.count_short(op.count):>7} {fmt.duration(op.mean_ns):>9}  ",
            target=Target(op=(op.kind, op.name)),
        )
        for op in ops
    ]


def operator_rows(operators: Sequence["OperatorStat"]) -> list[Row]:
    """Under `OPERATOR_HEADING`; each leads to its heaviest call path."""
    return [
        Row(
            operator.name,
            f"{fmt.share(operator.share):>7} {fmt.duration(operator.gpu_ns):>9} "
            f"{fmt.duration(operator.host_ns):>9} {fmt.count_short(operator.calls):>7}  ",
            target=Target(node=operator.node),
        )
        for operator in operators
    ]


def caller_rows(callers: Sequence["Caller"]) -> list[Row]:
    """Contexts that launch an operation, under `CALLER_HEADING`."""
    return [
        _path(c.names, minor_places(c.layers), c.share, c.gpu_ns, c.count, c.node) for c in callers
    ]


def path_rows(paths: Sequence["TopPath"]) -> list[Row]:
    """Contexts that launch GPU work, under `PATH_HEADING`."""
    return [
        _path(p.names, minor_places(p.layers), p.share, p.gpu_ns, p.kernels, p.node) for p in paths
    ]


def host_path_rows(paths: Sequence["HostPath"]) -> list[Row]:
    """Contexts that take host time themselves, under `HOST_PATH_HEADING`."""
    return [
        _path(p.names, minor_places(p.layers), p.share, p.self_ns, p.calls, p.node) for p in paths
    ]


def minor_places(layers: Sequence[Layer]) -> frozenset[int]:
    """Of a way: threads, native frames, and Python functions above the innermost operator."""
    operators = [place for place, layer in enumerate(layers) if layer in _OPERATORS]
    minor = {Layer.NATIVE, Layer.THREAD}
    inner = max(operators, default=len(layers))
    return frozenset(
        place
        for place, layer in enumerate(layers)
        if layer in minor or (operators and layer is Layer.PYTHON and place < inner)
    )


def _path(
    names: Sequence[str], minor: frozenset[int], share: float, ns: int, count: int, node: int
) -> Row:
    return Row(
        " > ".join(names) or "launch not recorded",
        f"{fmt.share(share):>7} {fmt.duration(ns):>9} {fmt.count_short(count):>7}  ",
        target=Target(node=node),
        parts=tuple(names),
        minor=minor,
    )
