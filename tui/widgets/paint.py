"""Styles of component classes for lines that a widget draws itself."""

from rich.style import Style
from textual.widget import Widget


def component_style(widget: Widget, name: str = "") -> Style:
    """The style of a component class on the widget's background; of the widget itself without one.

    Resolves what `get_component_rich_style` leaves open: colours with alpha, and automatic ones
    (`$text-muted`), which would come out white on a light theme.
    """
    if not name:
        return widget.visual_style.rich_style
    style = widget.get_visual_style(name).rich_style
    # Textual's visual styles know no reverse video.
    if widget.get_component_rich_style(name, partial=True).reverse:
        style += Style(reverse=True)
    return style
