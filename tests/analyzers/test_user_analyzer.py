"""Analyzers of the user's own: whatever one does, it is told in one sentence."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from dctx.analyzers.findings import Evidence, Finding, Gain, Weight
from dctx.analyzers.user_analyzer import UserAnalyzer

GOOD = Finding("x", Weight.HINT, "It is slow.", "Mend it.")


def ends(_: object) -> object:
    raise SystemExit(3)


def raises(_: object) -> object:
    raise ValueError("line one\nline two")


def wrong(**values: Any) -> Callable[[object], object]:
    """An analyzer whose finding has these fields."""
    fields: dict[str, Any] = {
        "id": "x", "weight": Weight.HINT, "sentence": "Slow.", "remedy": "", **values
    }  # fmt: skip
    return lambda _: [Finding(**fields)]


def gives(value: object) -> Callable[[object], object]:
    return lambda _: value


def takes_nothing() -> object:
    return []


@pytest.mark.parametrize(
    ("find", "words"),
    [
        (raises, "failed: ValueError: line one line two."),
        (ends, "it ends the program (exit 3)"),
        (gives(7), "a list of findings is expected, not int"),
        (gives([GOOD, "no"]), "a Finding is expected, not str"),
        (takes_nothing, "TypeError"),
        (wrong(weight=3), "Finding.weight is 3, not of type Weight"),
        (wrong(sentence=None), "Finding.sentence is None, not of type str"),
        (wrong(evidence=3), "Finding.evidence is int, not a tuple"),
        (wrong(evidence=("a",)), "an Evidence is expected, not str"),
        (wrong(evidence=(Evidence("a", "ms", float("nan")),)), "Evidence.value is nan"),
        (wrong(evidence=(Evidence("a", "ms", 1.0, node="n"),)), "ValueError"),  # type: ignore[arg-type]
        (wrong(gain=Gain(1.5, 0.1, "")), "Gain.ns is 1.5"),  # type: ignore[arg-type]
        (wrong(gain=Gain(1, float("inf"), "")), "Gain.share is inf"),
    ],
)
def test_what_is_no_list_of_findings_is_one_that_says_so(
    find: Callable[[object], object], words: str
) -> None:
    [told] = UserAnalyzer("mine", "mine.py", find)(None)
    assert told.id == "mine"
    assert told.weight is Weight.HINT
    assert told.sentence.startswith("The analyzer mine of mine.py failed")
    assert words in told.sentence
    assert "\n" not in told.sentence
    assert "Traceback" not in told.sentence


def test_findings_come_through_with_their_evidence_as_a_tuple() -> None:
    rows = [Evidence("a", "ms", 1.0, node=4)]
    found = UserAnalyzer("mine", "mine.py", wrong(evidence=rows))(None)
    assert found == [Finding("x", Weight.HINT, "Slow.", "", tuple(rows))]


def test_one_that_never_ends_is_stopped() -> None:
    def endless(_: object) -> object:
        while True:
            pass

    [told] = UserAnalyzer("mine", "mine.py", endless, longest_s=0.05)(None)
    assert told.sentence == "The analyzer mine of mine.py failed after 0.05 s: it takes too long."


def test_one_that_waits_for_ever_is_left_behind() -> None:
    release = threading.Event()
    try:
        analyzer = UserAnalyzer("mine", "mine.py", lambda _: release.wait(), longest_s=0.05)
        [told] = analyzer(None)
        assert "it takes too long" in told.sentence
    finally:
        release.set()
