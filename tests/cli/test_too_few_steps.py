"""Two runs of a few steps each: nothing can be told from them, and nothing is claimed."""

import json
from pathlib import Path

import pytest

from tests.analyzers.test_pairing import serving
from tests.cli.conftest import Run
from tests.cli.test_host_commands import check
from tests.near import near

pytestmark = pytest.mark.usefixtures("lasting_traces")


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Six steps, so five with a next one, and the same twice as slow."""
    folder = tmp_path_factory.mktemp("few")
    return (
        serving(folder / "few.sqlite", steps=6),
        serving(folder / "slow.sqlite", steps=6, gap=3_000),
    )


def test_the_conclusion_is_that_it_cannot_be_told(run: Run, few: tuple[Path, Path]) -> None:
    text = " ".join(run("compare", *few).stdout.split())
    assert (
        "Cannot tell: the means differ by +2,000.0 µs per step (+99.8 %), but they are of 5 and "
        "5 steps only. 10 on each side are needed to tell a change from chance." in text
    )
    assert "Compared: 5 steady steps on each side (those that another one follows)" in text
    assert "! only 6 steps with 8 generation requests are in both traces; 20 would be sure" in text
    assert "No significant change" not in text
    assert "(no change)" not in text
    markdown = run("compare", "--md", *few).stdout
    assert "**Cannot tell: the means differ by" in markdown
    assert "⚠ only 6 steps" in markdown


def test_the_same_in_json(run: Run, few: tuple[Path, Path]) -> None:
    document = json.loads(run("compare", "--json", *few, "--fail-on", "regression").stdout)
    check(document, "verdictDocument")
    comparison = document["dctx"]["comparison"]
    assert (comparison["conclusion"], comparison["primary_cause"]) == ("cannot tell", None)
    assert comparison["delta"]["wall_per_step"]["noise_us"] is None
    [gate] = document["dctx"]["gates"]
    assert (gate["failed"], gate["judged"], gate["value"]) == (
        False,
        False,
        near(99.8, abs=0.1),
    )


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--fail-on", "regression"], 0, "warning: gates pass though they could not be checked"),
        (["--fail-on", "regression", "--strict"], 2, "error: fewer than 10 steps on a side"),
        (["--fail-on", "unreliable"], 1, "gate unreliable failed: the figures cannot be relied on"),
        (["--fail-on", "regression,unreliable", "--exit-detail"], 12, "too few to tell a change"),
    ],
)
def test_gates_do_not_pass_for_good(
    run: Run, few: tuple[Path, Path], arguments: list[str], code: int, said: str
) -> None:
    done = run("compare", *few, *arguments)
    assert done.exit_code == code
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "is unreliable, must" not in done.stderr
