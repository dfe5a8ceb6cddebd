"""Rules about the figures of a comparison."""

from __future__ import annotations

from pathlib import Path

import pytest

from dctx.analyzers.compare_figures import Figure, check_rules
from dctx.analyzers.errors import RequestError
from dctx.analyzers.gate_rules import KINDS, Against, parse_rule


def figure(
    name: str, base: float | None, target: float | None, noise: float | None = None
) -> dict[str, Figure]:
    why = None if base is not None else "not recorded"
    return {name: Figure(KINDS[name], base, target, noise, why)}


@pytest.mark.parametrize(
    ("text", "against", "above", "limit"),
    [
        ("kernel_time>+3%", Against.PERCENT, True, 3),
        ("kernel_time > +3 %", Against.PERCENT, True, 3),
        ("gap_time>+50us", Against.CHANGE, True, 50_000),
        ("gap_time>+0.5ms", Against.CHANGE, True, 500_000),
        ("wall_time>4ms", Against.VALUE, True, 4_000_000),
        ("launches>400", Against.VALUE, True, 400),
        ("launches>+2", Against.CHANGE, True, 2),
        ("copy_bytes>+1MiB", Against.CHANGE, True, 2**20),
        ("gpu_time<-10%", Against.PERCENT, False, -10),
        ("wall_time>-2%", Against.PERCENT, True, -2),
    ],
)
def test_rules(text: str, against: Against, above: bool, limit: float) -> None:
    rule = parse_rule(text)
    assert (rule.against, rule.above, rule.limit) == (against, above, limit)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("speed>+3%", "no figure of a comparison is called 'speed'. There are: wall_time"),
        ("kernel_time>3%", "write its sign"),
        ("kernel_time>+3", "a limit of kernel_time has ns, us"),
        ("launches>+3us", "a limit of launches has no unit"),
        ("copy_bytes>+3ms", "a limit of copy_bytes has B, KB"),
        ("kernel_time>=+3%", "is no rule"),
        ("kernel_time>", "is no rule"),
        (">+3%", "is no rule"),
        ("kernel_time>+3%%", "is no rule"),
        ("kernel_time>+nan%", "is no rule"),
    ],
)
def test_what_is_no_rule(text: str, message: str) -> None:
    with pytest.raises(RequestError, match=message.replace("(", r"\(")):
        parse_rule(text)


@pytest.mark.parametrize(
    ("text", "base", "target", "failed"),
    [
        ("kernel_time>+3%", 100, 103, False),  # equal is not beyond
        ("kernel_time>+3%", 100, 103.1, True),
        ("kernel_time>+3%", 0, 1, True),  # more than any share of nothing
        ("kernel_time>+3%", 0, 0, False),
        ("kernel_time<-3%", 100, 96, True),
        ("kernel_time>-3%", 100, 98, True),  # must be 3 % faster
        ("kernel_time>-3%", 100, 96, False),
        ("kernel_time>+2us", 1_000, 3_001, True),
        ("kernel_time>+2us", 1_000, 3_000, False),
        ("kernel_time>2us", 1_000, 2_001, True),
        ("kernel_time>2us", 5_000, 2_000, False),
    ],
)
def test_limits(text: str, base: float, target: float, failed: bool) -> None:
    [gate] = check_rules((parse_rule(text),), figure("kernel_time", base, target))
    assert (gate.failed, gate.unknown, gate.by_chance) == (failed, None, False)


def test_a_change_within_noise_fails_no_gate_but_is_told() -> None:
    rules = (parse_rule("kernel_time>+3%"), parse_rule("kernel_time>104ns"))
    change, value = check_rules(rules, figure("kernel_time", 100, 105, noise=6))
    assert (change.failed, change.by_chance) == (False, True)
    assert value.failed  # a limit of the value does not ask where it was before
    [sure] = check_rules(rules[:1], figure("kernel_time", 100, 105, noise=4))
    assert sure.failed


def test_what_is_not_known_is_not_passed() -> None:
    [gate] = check_rules((parse_rule("samples>+3%"),), figure("samples", None, None))
    assert (gate.failed, gate.unknown) == (False, "not recorded")


def test_every_figure_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "compare.md").read_text(encoding="utf-8")
    assert [name for name in KINDS if f"`{name}`" not in page] == []
