"""A terminal that becomes wider and narrower: views show what they show at that size anyway."""

from dctx.tui.widgets.detail_pane import SidePane
from tests.tui.app_support import AppPilot, app_of, compare_app, demo_app, press, settle

NARROW, WIDE = (80, 24), (160, 45)


def shown(pilot: AppPilot) -> list[str]:
    """The lines of the screen."""
    strips = app_of(pilot).screen._compositor.render_strips()  # pyright: ignore[reportPrivateUsage]
    return [strip.text for strip in strips]


def in_pane(pilot: AppPilot) -> str:
    """What the pane of the view says, as far as it is on the screen."""
    region = app_of(pilot).screen.query_one(SidePane).content_region
    lines = shown(pilot)[region.y : region.bottom]
    return "\n".join(line[region.x : region.right].rstrip() for line in lines).strip()


async def resized(pilot: AppPilot, size: tuple[int, int]) -> list[str]:
    await pilot.resize_terminal(*size)
    await settle(pilot)
    return shown(pilot)


async def there_and_back(pilot: AppPilot) -> None:
    narrow = shown(pilot)
    wide = await resized(pilot, WIDE)
    told = in_pane(pilot)
    assert told
    assert await resized(pilot, NARROW) == narrow
    await press(pilot, "down")
    later = await resized(pilot, WIDE)
    assert in_pane(pilot) not in ("", told)
    await press(pilot, "up")
    assert shown(pilot) == wide
    await press(pilot, "down")
    assert shown(pilot) == later, "the pane was of the row that had the cursor"


async def test_panes_of_views() -> None:
    async with demo_app().run_test(size=NARROW) as pilot:
        await settle(pilot)
        for view in ("paths", "kernels", "ops"):
            await resized(pilot, NARROW)
            app_of(pilot).action_view(view)
            await settle(pilot)
            await there_and_back(pilot)
        await resized(pilot, NARROW)
        app_of(pilot).action_view("timeline")
        await settle(pilot)
        await press(pilot, "down", "right_square_bracket")
        cut = shown(pilot)[-4:-1]
        told = (await resized(pilot, WIDE))[-4:-1]
        assert told != cut
        await press(pilot, "right_square_bracket", "left_square_bracket")
        assert shown(pilot)[-4:-1] == told, "of an event all is told that there is room for"


async def test_pane_of_compare() -> None:
    async with compare_app().run_test(size=NARROW) as pilot:
        await settle(pilot)
        await there_and_back(pilot)
