"""The figures of the tensor-parallel LLM demo, and the plan of every step made from them.

The pair follows a published case study, Llama 3.2 1B on two GPUs, where the host got slower
between two releases. The published means fit together only when gaps between steps alternate
between long and short ones and when request handling runs on a second thread. All figures are
per rank and step; every mean holds exactly over the 200 steady steps, and over the 199 pairs of
consecutive ones: the 200th step has the mean value of everything.
"""

from dataclasses import dataclass
from random import Random

RANKS = 2
CONTEXT_STEPS = 20
STEADY_STEPS = 200
DRAIN_STEPS = 10
REQUESTS = 500
PAIRS = STEADY_STEPS - 1
LONG_GAPS = (PAIRS + 1) // 2
SHORT_GAPS = PAIRS - LONG_GAPS

PREPARE_RESOURCES = "prepare_resources"
PREPARE_INPUTS = "_prepare_inputs"
SAMPLE = "_sample_async"
UPDATE = "_update_requests"
GREEDY = "fast_greedy_sample_kernel"
FINISH = "_write_finish_reasons"
PROCESS = "_process_requests"
RESPONSES = "_handle_responses"


@dataclass(frozen=True, slots=True)
class GapOp:
    """Host work between steps: its mean, and its value in short gaps."""

    name: str
    mean_ns: int
    short_ns: int
    inside: str = ""
    """The operation it is nested in."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One side of the pair."""

    label: str
    file: str
    step_ns: int
    long_gap_ns: int
    short_gap_ns: int
    prepare_resources_ns: int
    prepare_inputs_ns: int
    gap_ops: tuple[GapOp, ...]
    process_requests_ns: int
    handle_responses_ns: int
    launches: int
    extra_launch_steps: int
    """Steady steps with one launched kernel more than `launches`."""
    launched_gpu_ns: int
    launch_api_ns: int

    @property
    def gap_sum_ns(self) -> int:
        """Of the gaps between the steady steps."""
        return LONG_GAPS * self.long_gap_ns + SHORT_GAPS * self.short_gap_ns


V1_1 = Variant(
    label="v1.1",
    file="llama-1b-v1.1.sqlite",
    step_ns=1_500_300,
    long_gap_ns=2_543_300,
    short_gap_ns=1_083_600,
    prepare_resources_ns=192_400,
    prepare_inputs_ns=815_900,
    gap_ops=(
        GapOp(SAMPLE, 1_163_000, 860_000),
        GapOp(UPDATE, 412_600, 50_000),
        GapOp("_fetch_new_requests", 36_400, 12_000),
        GapOp("_schedule", 121_000, 121_000),
    ),
    process_requests_ns=1_056_300,
    handle_responses_ns=300_000,
    launches=6,
    extra_launch_steps=40,
    launched_gpu_ns=109_800,
    launch_api_ns=22_600,
)

MAIN = Variant(
    label="main",
    file="llama-1b-main.sqlite",
    step_ns=1_667_200,
    long_gap_ns=4_467_600,
    short_gap_ns=131_600,
    prepare_resources_ns=348_600,
    prepare_inputs_ns=871_000,
    gap_ops=(
        GapOp(SAMPLE, 720_300, 22_000),
        GapOp(GREEDY, 52_000, 6_000, inside=SAMPLE),
        GapOp(UPDATE, 722_800, 86_000),
        GapOp(FINISH, 121_000, 14_000, inside=UPDATE),
        GapOp("_fetch_new_requests", 270_400, 4_500),
        GapOp("broadcast_requests", 249_600, 3_500),
        GapOp("_schedule", 120_000, 5_500),
    ),
    process_requests_ns=390_000,
    handle_responses_ns=330_000,
    launches=21,
    extra_launch_steps=180,
    launched_gpu_ns=142_800,
    launch_api_ns=79_700,
)

VARIANTS = (V1_1, MAIN)

# What a comparison must call each operation.
EXPECTED_STATUS = {
    PREPARE_INPUTS: "UNCHANGED",
    PREPARE_RESOURCES: "REGRESSION",
    "_schedule": "UNCHANGED",
    "_fetch_new_requests": "REGRESSION",
    "broadcast_requests": "NEW",
    SAMPLE: "IMPROVED",
    UPDATE: "REGRESSION",
    PROCESS: "IMPROVED",
    RESPONSES: "UNCHANGED",
    FINISH: "NEW",
    GREEDY: "NEW",
}


@dataclass(frozen=True, slots=True)
class StepPlan:
    """One step of one rank. The gap is what follows it, `ops_ns` the host work in both."""

    number: int
    phase: str
    context: int
    generation: int
    duration_ns: int
    gap_ns: int
    ops_ns: dict[str, int]
    launches: int
    launched_gpu_ns: int
    launch_api_ns: int

    @property
    def text(self) -> str:
        return (
            f"[Executor] _forward_step {self.number}: {self.context} ctx reqs,"
            f" {self.generation} gen reqs"
        )


def exact(count: int, total: int, jitter: float, random: Random) -> list[int]:
    """`count` integers near their mean (± `jitter` of it) that sum to `total`."""
    mean = total / count
    values = [round(mean * (1 + jitter * (2 * random.random() - 1))) for _ in range(count)]
    each, rest = divmod(total - sum(values), count)
    return [v + each + (i < rest) for i, v in enumerate(values)]


def _even(mean: int, jitter: float, random: Random) -> list[int]:
    """A value per steady step, the last one the mean."""
    return [*exact(PAIRS, PAIRS * mean, jitter, random), mean]


def _alternating(mean: int, short: int, jitter: float, random: Random) -> list[int]:
    """As `_even`, for work done mostly in the long gaps, which come first."""
    shorts = exact(SHORT_GAPS, SHORT_GAPS * short, jitter, random)
    longs = exact(LONG_GAPS, PAIRS * mean - SHORT_GAPS * short, jitter, random)
    mixed = [longs[i // 2] if i % 2 == 0 else shorts[i // 2] for i in range(PAIRS)]
    return [*mixed, mean]


def _launch_counts(variant: Variant, random: Random) -> list[int]:
    order = list(range(PAIRS))
    random.shuffle(order)
    more = set(order[: variant.extra_launch_steps])
    return [variant.launches + (i in more) for i in range(STEADY_STEPS)]


def plan_steps(variant: Variant, rank: int) -> list[StepPlan]:
    """The steps of one rank: ramp-up with context requests, steady generation, drain.

    Durations and gaps are the same on all ranks, which run in lockstep; the rest differs.
    """

    def stream(purpose: str, *, shared: bool = False) -> Random:
        return Random(f"{variant.label}/{purpose}/{'all' if shared else rank}")

    means = {
        PREPARE_RESOURCES: variant.prepare_resources_ns,
        PREPARE_INPUTS: variant.prepare_inputs_ns,
        PROCESS: variant.process_requests_ns,
        RESPONSES: variant.handle_responses_ns,
    }
    series = {name: _even(mean, 0.02, stream(name)) for name, mean in means.items()}
    for op in variant.gap_ops:
        means[op.name] = op.mean_ns
        series[op.name] = _alternating(op.mean_ns, op.short_ns, 0.02, stream(op.name))
    durations = _even(variant.step_ns, 0.015, stream("step", shared=True))
    launches = _launch_counts(variant, stream("launches"))
    gpu = _even(variant.launched_gpu_ns, 0.03, stream("gpu"))
    api = _even(variant.launch_api_ns, 0.06, stream("api"))
    mean_gap = round(variant.gap_sum_ns / PAIRS)

    def plain(number: int, phase: str, context: int, generation: int, span: int) -> StepPlan:
        return StepPlan(
            number, phase, context, generation, span, mean_gap, means,
            variant.launches, variant.launched_gpu_ns, variant.launch_api_ns,
        )  # fmt: skip

    steps: list[StepPlan] = []
    arriving = REQUESTS // CONTEXT_STEPS
    ramp = stream("ramp", shared=True)
    for i in range(CONTEXT_STEPS):
        span = round(5_600_000 * (1 + 0.06 * (2 * ramp.random() - 1)))
        steps.append(plain(i + 1, "context", arriving, arriving * i, span))
    for i in range(STEADY_STEPS):
        gap = variant.short_gap_ns if i % 2 else variant.long_gap_ns
        ops = {name: values[i] for name, values in series.items()}
        steps.append(
            StepPlan(
                CONTEXT_STEPS + i + 1, "steady", 0, REQUESTS, durations[i],
                mean_gap if i == PAIRS else gap, ops, launches[i], gpu[i], api[i],
            )
        )  # fmt: skip
    leaving = REQUESTS // (DRAIN_STEPS + 1)
    for i in range(DRAIN_STEPS):
        number = CONTEXT_STEPS + STEADY_STEPS + i + 1
        left = REQUESTS - leaving * (i + 1)
        steps.append(plain(number, "drain", 0, left, variant.step_ns))
    return steps
