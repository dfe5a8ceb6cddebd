"""A flame graph as a picture that any browser shows, without scripts."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final, TextIO

from ..ingest.model import Layer
from . import format as fmt
from .flame import flame_title, frame_label, value_text

if TYPE_CHECKING:
    from ..analyzers.flame_tree import FlameTree, Span

_WIDTH: Final = 1400
_ROW: Final = 18
_HEAD: Final = 48
_CHARACTER: Final = 7.3
"""Width of one in the font of 12 px, at most."""
_NARROWEST: Final = 0.25
"""Frames of fewer pixels are not drawn."""

_OTHER: Final = "#d5d5d5"
_COLOURS: Final = {
    Layer.KERNEL: "#f0a860",
    Layer.GRAPH: "#f0a860",
    Layer.MEMCPY: "#e8d174",
    Layer.MEMSET: "#e8d174",
    Layer.OP: "#9ccf9c",
    Layer.HLO: "#9ccf9c",
    Layer.BACKWARD: "#9ccf9c",
    Layer.MODULE: "#8fcfc4",
    Layer.PYTHON: "#9cbfe8",
    Layer.SOURCE_LINE: "#9cbfe8",
    Layer.ANNOTATION: "#cdb4e4",
}
_LEGEND: Final = (
    ("#f0a860", "kernel"),
    ("#e8d174", "copy"),
    ("#9ccf9c", "operator"),
    ("#8fcfc4", "module"),
    ("#9cbfe8", "Python"),
    ("#cdb4e4", "annotation"),
    (_OTHER, "other"),
)


def write_svg(tree: FlameTree, name: str, out: TextIO) -> None:
    """The whole graph, hanging from its root. Each frame tells name, value and share when pointed
    at. Frames narrower than a quarter of a pixel are left out, with what is below them."""
    total = tree.total
    scale = _WIDTH / total if total else 0.0
    shown = [span for span in tree.spans() if (span.end - span.start) * scale >= _NARROWEST]
    depth = max((span.depth for span in shown), default=-1) + 1
    height = _HEAD + depth * _ROW + 8
    value = value_text(tree.metric, total)
    title = escape(f"{fmt.clean(name)} · {flame_title(tree)} · {value}")
    out.write(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" role="img" aria-label="{title}">\n'
        f"<title>{title}</title>\n"
        "<style>text{font:12px ui-monospace,monospace;fill:#111}g:hover rect{stroke:#000}"
        "</style>\n"
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>\n'
        f'<text x="6" y="18">{title}</text>\n'
    )
    x = 6.0
    for colour, text in _LEGEND:
        out.write(f'<rect x="{x:.0f}" y="27" width="12" height="12" fill="{colour}"/>')
        out.write(f'<text x="{x + 16:.0f}" y="38">{text}</text>\n')
        x += 34 + len(text) * _CHARACTER
    for span in shown:
        out.write(_frame(tree, span, scale, total))
    if not shown:
        out.write(f'<text x="6" y="{_HEAD + 6}">Nothing was measured by this metric.</text>\n')
    out.write("</svg>\n")


def _frame(tree: FlameTree, span: Span, scale: float, total: int) -> str:
    frame = int(tree.frame[span.node])
    label = frame_label(tree.frames, frame)
    value = span.end - span.start
    x, width, y = span.start * scale, value * scale, _HEAD + span.depth * _ROW
    colour = _COLOURS.get(tree.frames.layers[frame], _OTHER)
    told = f"{label}: {value_text(tree.metric, value)}, {fmt.share(value / total).strip()}"
    room = int((width - 6) / _CHARACTER)
    text = fmt.shorten_middle(label, room) if room >= 3 else ""
    written = f'<text x="{x + 3:.2f}" y="{y + 13}">{escape(text)}</text>' if text else ""
    return (
        f'<g><title>{escape(told)}</title><rect x="{x:.2f}" y="{y}" '
        f'width="{max(width - 0.4, 0.1):.2f}" height="{_ROW - 1}" fill="{colour}"/>{written}</g>\n'
    )
