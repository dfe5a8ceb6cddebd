"""Lanes of steps: what they show is the steps as they were found, above the process's tracks."""

from importlib.resources import files
from pathlib import Path

import numpy as np

from dctx.analyzers.steps import find_steps
from dctx.analyzers.tracks.links import about
from dctx.analyzers.tracks.picture import draw
from dctx.analyzers.tracks.timeline import Timeline
from dctx.analyzers.tracks.track import Sort
from dctx.analyzers.tracks.window import Window
from dctx.reports.timeline_text import about_texts
from tests.analyzers.workload import opened

DEMO = Path(str(files("dctx.demo_data"))) / "llama-1b-main.sqlite"


def test_the_steps_of_the_demo() -> None:
    with opened(DEMO) as trace:
        steps, timeline = find_steps(trace), Timeline(trace)
        before = timeline.tracks
        timeline.set_steps(steps)
        timeline.set_steps(steps)
        assert timeline.tracks[: len(before)] == before, "places stay"
        lanes = {k: t for k, t in enumerate(timeline.tracks) if t.sort is Sort.STEPS}
        assert [track.owner for track in lanes.values()] == [rank.label for rank in steps.ranks]
        for k, rank in zip(lanes, range(len(steps.ranks)), strict=True):
            rows = np.flatnonzero(steps.rank == rank)
            [line] = timeline.lines(k)
            spans = [line.span(place) for place in range(len(line))]
            assert spans == list(zip(steps.start_ns[rows], steps.end_ns[rows], strict=True))
            assert [line.event(place) for place in range(len(line))] == rows.tolist()
        for process in {track.process for track in before}:
            shown = timeline.rows(process, frozenset())
            assert timeline.tracks[shown[0].track].sort is Sort.STEPS
        assert timeline.unread(None) == [k for k in timeline.unread(None) if k < len(before)]

        row = timeline.rows(None, frozenset())[1]  # below the heading of its process
        step = int(np.flatnonzero(steps.rank == 0)[7])
        at = int(steps.start_ns[step])
        window = Window.whole(0, 10**10).around(at, int(steps.end_ns[step]))
        picked = draw(timeline, [row], window, 60, (row, at)).picked
        assert picked is not None
        assert (picked.event, picked.name) == (step, f"step {steps.number[step]}")
        first, second = about_texts(timeline, picked, about(timeline, trace, picked), 80)
        assert first == "context · ramp-up · 25 requests in context · 175 requests in generation"
        assert second.endswith("until the next step begins")
