"""Redraws the pictures of the README from the demo trace: `python docs/screenshots.py`."""

import asyncio
import os
import tempfile
from pathlib import Path

from dctx.tui.app import DctxApp
from dctx.tui.demo import demo_trace
from dctx.tui.loading import Loading

IMAGES = Path(__file__).parent / "img"
SIZE = (120, 34)
PICTURES = {
    "overview": (),
    "call-paths": ("2", "z"),
    "kernels": ("3",),
    "steps": ("6",),
}


async def draw(name: str, keys: tuple[str, ...]) -> None:
    """Open the demo trace, press keys, write the picture."""
    loading = Loading(demo_trace())
    loading.start()
    app = DctxApp(loading)
    async with app.run_test(size=SIZE) as pilot:
        while not app.load_state.ended:
            await pilot.pause(0.05)
        for key in (None, *keys):
            if key is not None:
                await pilot.press(key)
            await pilot.pause(0.3)
            await app.workers.wait_for_complete()
            await pilot.pause()
        svg = app.export_screenshot(title=f"dctx-tui {demo_trace().name}")
    (IMAGES / f"{name}.svg").write_text(svg, encoding="utf-8")
    print(IMAGES / f"{name}.svg")


def main() -> None:
    """Write every picture; stores are built outside the user's cache."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        os.environ["DCTX_CACHE_DIR"] = os.environ["DCTX_STATE_DIR"] = directory
        for name, keys in PICTURES.items():
            asyncio.run(draw(name, keys))


if __name__ == "__main__":
    main()
