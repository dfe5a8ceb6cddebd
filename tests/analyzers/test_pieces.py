"""Reading events in pieces changes no figure: the demo trace, in pieces far smaller than it is."""

from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from dctx.analyzers import gap_table, idle_blame, state_spans
from dctx.analyzers.config import default_config
from dctx.analyzers.step_report import StepReport, judged_steps
from dctx.analyzers.step_table import StepTable
from dctx.queries import trace as queried
from tests.analyzers.workload import opened

DEMO = Path(str(files("dctx.demo_data"))) / "llama-1b-v1.1.sqlite"


def judged() -> StepReport:
    with opened(DEMO) as trace:
        return judged_steps(trace, default_config(), "auto")


def figures(table: StepTable | None) -> list[object]:
    assert table is not None
    columns = (table.calls, table.total_ns, table.self_ns, table.self_in_step_ns, table.node)
    return [table.names, table.parents, *(column.tolist() for column in columns)]


def test_pieces_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = judged()
    monkeypatch.setattr(queried, "PIECE_ROWS", 997)
    monkeypatch.setattr(idle_blame, "_FEW_PIECES", 101)
    monkeypatch.setattr(idle_blame, "_MOST_PARTS", 7)
    monkeypatch.setattr(state_spans, "_STATES_AT_ONCE", 500)
    monkeypatch.setattr(gap_table, "_AT_ONCE", 53)
    parts = judged()

    assert parts.judged.result.measured == whole.judged.result.measured
    assert parts.judged.result.reliability == whole.judged.result.reliability
    assert parts.gaps == whole.gaps
    blame, expected = parts.judged.blame, whole.judged.blame
    assert blame is not None
    assert expected is not None
    assert blame.idle_ns == expected.idle_ns
    assert blame.causes == expected.causes
    assert blame.launching == expected.launching
    assert np.array_equal(blame.by_step, expected.by_step)
    assert np.array_equal(blame.outside, expected.outside)
    assert figures(parts.judged.profile.host) == figures(whole.judged.profile.host)
    assert figures(parts.judged.profile.gpu) == figures(whole.judged.profile.gpu)
    assert parts.judged.findings == whole.judged.findings
