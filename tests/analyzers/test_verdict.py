"""The rule of the verdict on sets of metrics with known answers, and the settings."""

from typing import Any

import pytest

from dctx.analyzers.config import default_config, parse_config
from dctx.analyzers.errors import RequestError
from dctx.analyzers.verdict import Answer, Metrics, judge, judge_as_guide, verdict

CONFIG = default_config()
NAMES = (
    "gpu_idle_ratio",
    "launch_overhead_ratio",
    "host_prep_exposed_ratio",
    "host_prep_perf_impact",
    "host_prep_idle_attribution",
    "gpu_utilization",
    "nccl_ratio",
)


def metrics(*values: float | None, **more: Any) -> Metrics:
    known: dict[str, Any] = dict(zip(NAMES, values, strict=True))
    return Metrics(**known, **more)


SCENARIOS = [
    ("host-bound", (0.421, 0.12, 0.6, 0.15, 0.85, 0.579, None), Answer.YES, 6, 6, True, False),
    ("GPU-bound", (0.08, 0.02, 0.1, 0.005, 0.06, 0.92, None), Answer.NO, 0, 6, False, False),
    ("communication", (0.35, 0.015, 0.4, 0.08, 0.23, 0.65, 0.45), Answer.YES, 2, 6, False, True),
    ("template", (0.421, 0.032, 0.55, 0.125, 0.72, 0.579, 0.05), Answer.YES, 5, 6, True, False),
    ("edge", (0.3, 0.1, 0.5, 0.05, 0.5, 0.6, 0.2), Answer.NO, 0, 6, False, False),
]


@pytest.mark.parametrize(
    ("name", "values", "answer", "crossed", "applicable", "confirmed", "caveat"), SCENARIOS
)
def test_published_scenarios(
    name: str, values: tuple[float | None, ...], answer: Answer, crossed: int, applicable: int,
    confirmed: bool, caveat: bool,
) -> None:  # fmt: skip
    found = judge(metrics(*values), CONFIG.thresholds)
    assert (found.answer, found.crossed_count, found.applicable_count) == (
        answer, crossed, applicable,
    ), name  # fmt: skip
    assert (found.host_prep_confirmed, found.nccl_caveat) == (confirmed, caveat), name


N = None


def test_a_context_phase_elevates() -> None:
    found = verdict(
        metrics(0.25, N, N, N, N, 0.75, N),
        {
            "context": metrics(0.482, 0.085, 0.62, 0.22, 0.88, 0.518, N),
            "generation": metrics(0.051, 0.008, N, N, N, 0.949, N),
        },
        CONFIG,
    )
    context, generation = found.phases["context"], found.phases["generation"]
    assert found.aggregate.answer is Answer.NO
    assert (context.answer, context.crossed_count, context.applicable_count) == (Answer.YES, 5, 6)
    assert context.host_prep_confirmed
    assert (generation.answer, generation.crossed_count, generation.applicable_count) == (
        Answer.NO, 0, 3,
    )  # fmt: skip
    assert (found.answer, found.elevated_by) == (Answer.YES, ("context",))


def test_both_phases_cross() -> None:
    found = verdict(
        metrics(0.25, N, N, N, N, 0.75, N),
        {
            "context": metrics(0.45, 0.05, N, N, N, 0.55, N),
            "generation": metrics(0.32, 0.15, N, N, N, 0.68, N),
        },
        CONFIG,
    )
    assert [(p.answer, p.crossed_count, p.applicable_count) for p in found.phases.values()] == [
        (Answer.YES, 2, 3), (Answer.YES, 3, 3),
    ]  # fmt: skip


def test_generation_has_limits_of_its_own() -> None:
    found = verdict(
        metrics(0.2, N, N, N, N, 0.8, N),
        {
            "context": metrics(0.15, 0.05, N, N, N, 0.85, N),
            "generation": metrics(0.22, 0.12, N, N, N, 0.78, N),
        },
        CONFIG,
    )
    assert (found.phases["context"].answer, found.phases["context"].crossed_count) == (
        Answer.NO, 0,
    )  # fmt: skip
    assert (found.phases["generation"].answer, found.phases["generation"].crossed_count) == (
        Answer.YES, 3,
    )  # fmt: skip
    assert (found.answer, found.elevated_by) == (Answer.YES, ("generation",))


def test_a_phase_never_lowers() -> None:
    found = verdict(
        metrics(0.5, 0.2, N, N, N, 0.5, N), {"step": metrics(0.1, 0.0, N, N, N, 0.9, N)}, CONFIG
    )
    assert (found.answer, found.elevated_by) == (Answer.YES, ())


def test_copies_that_explain_the_idle_time() -> None:
    copied = metrics(0.98, 0.01, N, N, N, 0.02, 0.0, idle_without_copies=0.007)
    found = judge(copied, CONFIG.thresholds)
    assert (found.answer, found.crossed_count, found.explained_by_copies) == (Answer.NO, 0, True)
    guide = judge_as_guide(copied, CONFIG.thresholds)
    assert (guide.answer, guide.crossed_count) == (Answer.YES, 2)


def test_copies_that_explain_a_part() -> None:
    partly = metrics(0.9, 0.0, N, N, N, 0.1, N, idle_without_copies=0.35)
    found = judge(partly, CONFIG.thresholds)  # idle still crosses, use no longer
    assert (found.answer, dict(found.crossed)) == (
        Answer.NO,
        {"gpu_idle_ratio": True, "launch_overhead_ratio": False, "gpu_utilization": False},
    )


def test_blocked_launches_count_for_the_guide_only() -> None:
    blocked = metrics(0.1, 0.01, N, N, N, 0.9, N, launch_gross_ratio=0.5)
    assert judge(blocked, CONFIG.thresholds).crossed["launch_overhead_ratio"] is False
    assert judge_as_guide(blocked, CONFIG.thresholds).crossed["launch_overhead_ratio"] is True


def test_the_device_with_most_communication_gives_the_caveat() -> None:
    uneven = metrics(0.1, 0.0, N, N, N, 0.9, 0.1, nccl_highest=0.3)
    assert judge(uneven, CONFIG.thresholds).nccl_caveat


def test_without_gpu_work_there_is_no_verdict() -> None:
    found = verdict(metrics(N, 0.4, N, N, N, N, N), {}, CONFIG)
    assert (found.answer, found.aggregate.applicable_count) == (Answer.NOT_APPLICABLE, 1)


def test_settings_of_a_file() -> None:
    config = parse_config(
        "[host.thresholds]\ngpu_idle_ratio = 0.2\nnccl_ratio = 0.5\n"
        "[host.thresholds.context]\ngpu_utilization = 0.7\n"
        "[host.steps]\nstep_regex = 'tick (?P<step>\\d+)'\n"
        '[host.sources]\n"tick" = "app.loop"\n',
        "own.toml",
    )
    assert config.thresholds.gpu_idle_ratio == 0.2
    assert config.thresholds.launch_overhead_ratio == 0.1
    assert config.of_phase("context").gpu_utilization == 0.7
    assert config.of_phase("context").gpu_idle_ratio == 0.2
    assert config.of_phase("generation").gpu_idle_ratio == 0.2  # given for all
    assert config.of_phase("generation").gpu_utilization == 0.8
    assert config.of_phase("step") == config.thresholds
    assert config.steps.step_regex == r"tick (?P<step>\d+)"
    assert config.sources == {"tick": "app.loop"}


def test_settings_of_options() -> None:
    config = CONFIG.override("gpu_idle_ratio=0.4").override("generation.gpu_utilization = 0.5")
    assert config.thresholds.gpu_idle_ratio == 0.4
    assert config.of_phase("generation").gpu_idle_ratio == 0.4
    assert config.of_phase("generation").gpu_utilization == 0.5
    assert config.of_phase("context").gpu_utilization == 0.6


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[host", "no TOML"),
        ("host = 3", "no table"),
        ("[host.thresholds]\nidle = 0.3", "no threshold"),
        ("[host.thresholds]\ngpu_idle_ratio = 30", "from 0 to 1"),
        ("[host.thresholds]\ngpu_idle_ratio = true", "from 0 to 1"),
        ("[host.thresholds.decode]\ngpu_idle_ratio = 0.3", "no phase"),
        ("[host.threshold]\nx = 1", "has no threshold"),
        ("[host.steps]\nstep_regex = '('", "regular expression"),
        ("[host.steps]\nstep = 'x'", "step_regex"),
        ("[host.sources]\nx = 1", "texts"),
    ],
)
def test_settings_that_are_none(text: str, says: str) -> None:
    with pytest.raises(RequestError, match=says):
        parse_config(text, "own.toml")


@pytest.mark.parametrize(
    "setting",
    [
        "gpu_idle_ratio",
        "gpu_idle_ratio=x",
        "idle=0.1",
        "x.y=0.1",
        "decode.gpu_idle_ratio=0.1",
        "gpu_idle_ratio=nan",
    ],
)
def test_options_that_are_none(setting: str) -> None:
    with pytest.raises(RequestError):
        CONFIG.override(setting)
