"""What the detail pane of the Ops view says of a row, and the points of its plot."""

from dataclasses import dataclass

from ...analyzers.architecture import Architecture
from ...analyzers.op_hierarchy import Category, KernelUse, Operator, OpHierarchy, UniqueCall
from ...analyzers.quantities import plural
from ...queries.ancestry import Ancestry, ancestries
from ...queries.places import host_node, work_named
from ...queries.trace import Trace
from ...reports import format as fmt
from ...reports.ops_text import arguments_of, call_lines, limits_line
from ..looking import Target
from ..widgets.detail_pane import Section
from ..widgets.roofline_plot import Point, Roof, Roofline
from ..widgets.row_list import Row
from .details import Detail
from .leads import minor_places
from .ops_cells import Item

LARGE = 0.05
"""Share of the GPU time from which on a point is drawn larger."""
KERNEL_HEADING = f"{'time':>9} {'count':>7} {'mean':>9}  name"
CALL_HEADING = f"{'time':>9} {'count':>7} {'roofline':>9}  operator, arguments"
MOST_CALLS = 20


@dataclass(frozen=True, slots=True)
class CallAnswer:
    """What was asked about one set of arguments."""

    kernels: list[KernelUse]
    targets: list[Target | None]
    """Of each kernel."""
    node: int | None
    """Call path of the call; None: not in the trace."""
    way: Ancestry | None


def ask_call(trace: Trace, tree: OpHierarchy, call: UniqueCall) -> CallAnswer:
    """Queries."""
    kernels = tree.kernels(call)
    targets: list[Target | None] = []
    for kernel in kernels:
        place = work_named(trace, kernel.name)
        targets.append(None if place is None else Target(op=(place.kind, place.name)))
    node = host_node(trace, call.example) if call.example >= 0 else None
    way = None if node is None else ancestries(trace, [node])[node]
    return CallAnswer(kernels, targets, node, way)


def of_call(call: UniqueCall, answer: CallAnswer, found: Architecture | None) -> Detail:
    """Figures, kernels, and the way to the first of the calls."""
    rows = [
        Row(
            use.text,
            f"{fmt.duration(use.total_ns):>9} {fmt.count_short(use.count):>7} "
            f"{fmt.duration(use.mean_ns):>9}  ",
            target=target,
        )
        for use, target in zip(answer.kernels, answer.targets, strict=True)
    ]
    if answer.node is None or answer.way is None:
        path = Row("its launch is not in the trace", tone="dim")
    else:
        names = answer.way.names
        path = Row(
            " > ".join(names),
            target=Target(node=answer.node),
            parts=names,
            minor=minor_places(answer.way.layers),
        )
    sections = [
        Section("Kernels, in the order of their launches", rows, KERNEL_HEADING),
        Section("First called from", [path]),
    ]
    return Detail("\n".join(call_lines(call, found)), None, sections, None)


def of_group(item: Category | Operator, tree: OpHierarchy) -> Detail:
    """What a category or operator consists of."""
    if isinstance(item, Category):
        calls = [call for op in item.operators for call in op.calls]
        name, parts = item.name, plural(len(item.operators), "operator")
    else:
        calls, name = list(item.calls), item.name
        parts = plural(len(calls), "set of arguments", "sets of arguments")
    calls.sort(key=lambda call: call.group)
    whole = tree.gpu_ns
    facts = [
        f"{fmt.duration(item.gpu_ns)} on the GPU",
        f"{fmt.share(item.gpu_ns / whole if whole else None)} of all but communication",
        plural(item.count, "call"),
        parts,
    ]
    if item.percent is not None:
        facts.append(f"{item.percent:.1f} % of the roofline, where there is one")
    rows = [
        Row(
            f"{call.name}  {arguments_of(call)}",
            f"{fmt.duration(call.gpu_ns):>9} {fmt.count_short(call.count):>7} "
            f"{fmt.NA if call.percent is None else f'{call.percent:.1f} %':>9}  ",
            target=call,
        )
        for call in calls[:MOST_CALLS]
    ]
    title = "Most time"
    if len(calls) > MOST_CALLS:
        title += f", {MOST_CALLS} of {fmt.count(len(calls))}"
    return Detail(f"{name}\n{' · '.join(facts)}", None, [Section(title, rows, CALL_HEADING)], None)


def plot_of(tree: OpHierarchy) -> Roofline | None:
    """Every set of arguments that has a place; None without an architecture or any place."""
    found = tree.architecture
    if found is None:
        return None
    points: list[Point] = []
    specs: set[str] = set()
    for call in tree.calls:
        if call.intensity and call.tflops and call.roofline is not None:
            large = call.gpu_ns >= LARGE * tree.gpu_ns
            points.append(Point(call.group, call.intensity, call.tflops, large))
            rate = None if call.figures is None else found.rate(call.figures.spec or "")
            if rate is not None:
                specs.add(rate.spec)
    if not points:
        return None
    rates = {spec: found.rate(spec) for spec in specs}
    roofs = [Roof(spec, rate.tflops) for spec, rate in rates.items() if rate is not None]
    roofs.sort(key=lambda roof: -roof.tflops)
    main = next((call for call in tree.calls if call.group == points[0].key), None)
    spec = None if main is None or main.figures is None else main.figures.spec
    return Roofline(points, roofs, found.bandwidth_gbps / 1000, limits_line(found, spec))


def roof_of(tree: OpHierarchy, item: Item | None) -> str | None:
    """Label of the roof over a row: of a set of arguments, of the longest one of an operator."""
    found = tree.architecture
    calls: list[UniqueCall] = []
    if isinstance(item, UniqueCall):
        calls = [item]
    elif isinstance(item, Operator):
        calls = [call for call in item.calls if call.roofline is not None]
    elif isinstance(item, Category):
        calls = [call for op in item.operators for call in op.calls if call.roofline is not None]
    if found is None or not calls:
        return None
    longest = max(calls, key=lambda call: call.gpu_ns)
    spec = None if longest.figures is None else longest.figures.spec
    rate = None if spec is None else found.rate(spec)
    return None if rate is None else rate.spec
