"""An aggregated profile in the application: the views that need events say why they lack them."""

import json
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.tui.app_support import opened, settle

PROFILE: list[Any] = [
    {
        "frame": {"name": "ROOT", "type": "function"},
        "metrics": {},
        "children": [
            {
                "frame": {"name": "/src/train.py:12@step", "type": "function"},
                "metrics": {},
                "children": [
                    {
                        "frame": {"name": "gemm", "type": "function"},
                        "metrics": {
                            "time (ns)": 5000,
                            "count": 4,
                            "device_id": "0",
                            "device_type": "CUDA",
                        },
                        "children": [],
                    }
                ],
            }
        ],
    },
    {},
]


def screen(pilot: Pilot[None]) -> str:
    compositor = pilot.app.screen._compositor  # pyright: ignore[reportPrivateUsage]
    strips = compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


@pytest.mark.asyncio
async def test_every_view_of_a_profile(tmp_path: Path) -> None:
    path = tmp_path / "proton.hatchet"
    path.write_text(json.dumps(PROFILE))
    async with opened(path, size=(120, 30)) as pilot:
        text = screen(pilot)
        assert "An aggregated profile" in text
        assert "No single events" in text
        assert "gemm" in text
        await pilot.press("2", "right", "right", "right")
        await settle(pilot)
        text = screen(pilot)
        assert "step" in text
        assert "gemm" in text
        await pilot.press("3")
        await settle(pilot)
        assert "n/a" in next(line for line in screen(pilot).splitlines() if "100.0 %" in line)
        await pilot.press("enter")
        await settle(pilot)
        text = screen(pilot)
        assert "An aggregated profile" in text
        assert "0 rows" not in text
        assert "q back, then i" in text
        await pilot.press("q", "i")
        await settle(pilot)
        assert "n/a, no single launch was recorded" in screen(pilot)
