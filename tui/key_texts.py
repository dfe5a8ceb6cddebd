"""Keys as people read them: names, the footer, the help, the palette and `docs/keys.md`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from textual.keys import format_key

from .key_model import Footer, Group, Key, Place
from .keys import CHAINS, KEYS, TITLES, keys_at

ASCII_KEYS = {
    "←→": "left/right",
    "↑↓": "up/down",
    "⌫": "backspace",
    "⏎": "enter",
    "↑": "up",
    "↓": "down",
    "←": "left",
    "→": "right",
}


def key_name(key: str, *, ascii_only: bool = False) -> str:
    """A Textual key name as people read it: `⏎`, `pgdn`, `ctrl+p`, `?`."""
    *modifiers, last = key.split("+") if len(key) > 1 else [key]
    shown = format_key(last)
    if ascii_only:
        shown = ASCII_KEYS.get(shown, shown)
    return "+".join([*modifiers, shown])


def key_names(
    key: Key, keymap: Mapping[str, str] | None = None, *, ascii_only: bool = False
) -> list[str]:
    """Names of the keys that trigger a binding under the user's keymap."""
    remapped = (keymap or {}).get(key.id)
    names = remapped.split(",") if remapped else key.keys
    return [key_name(name.strip(), ascii_only=ascii_only) for name in names]


@dataclass(frozen=True, slots=True)
class FooterItem:
    """What the footer shows of a key: its name, what it does, its rank; the key to press for it."""

    id: str
    key: str
    name: str
    text: str
    rank: int


def footer_items(
    view: Footer,
    keymap: Mapping[str, str] | None = None,
    *,
    ascii_only: bool = False,
    quits: bool = False,
) -> list[FooterItem]:
    """The footer's items for a view, in the order of the table: what belongs to the view first.

    `quits`: going back leads out of the application now."""
    items: list[FooterItem] = []
    for key in keys_at(*CHAINS[view]):
        if not key.footer:
            continue
        pressed = (keymap or {}).get(key.id, key.keys[0]).split(",")[0].strip()
        if key.label and key_name(pressed) == key_name(key.keys[0]):
            name = ASCII_KEYS.get(key.label, key.label) if ascii_only else key.label
        else:
            name = key_name(pressed, ascii_only=ascii_only)
        text = "quit" if quits and key.id == "app.back" else key.short
        items.append(FooterItem(key.id, pressed, name, text, key.footer))
    return items


@dataclass(frozen=True, slots=True)
class HelpLine:
    """A line of the help: the keys' names and what they do."""

    names: tuple[str, ...]
    text: str


def help_groups(
    view: Footer, keymap: Mapping[str, str] | None = None, *, ascii_only: bool = False
) -> dict[str, list[HelpLine]]:
    """The keys that work in a view, under the headings of the help."""
    groups: dict[str, list[HelpLine]] = {}
    usable = list(keys_at(*CHAINS[view]))
    for group in Group:
        lines = [
            HelpLine(tuple(key_names(key, keymap, ascii_only=ascii_only)), key.help)
            for key in usable
            if key.group is group
        ]
        if lines:
            groups[group.value] = lines
    return groups


def palette_keys(view: Footer) -> Iterator[Key]:
    """The keys of a view that do more than move the cursor or the text."""
    return (
        key for key in keys_at(*CHAINS[view]) if key.group is not Group.MOVE or key.action == "open"
    )


def markdown() -> str:
    """The reference page of all keys (`docs/keys.md`)."""
    lines = [
        "# Keys",
        "",
        "Made from `tui/keys.py`. The id is the name to use when rebinding a key.",
        "",
    ]
    for group in Group:
        lines += [
            f"## {group.value}",
            "",
            "| keys | what it does | where | id |",
            "|---|---|---|---|",
        ]
        for key in KEYS:
            if key.group is group:
                names = ", ".join(f"`{name}`" for name in key_names(key))
                where = ", ".join(_place_title(place) for place in key.places)
                lines.append(f"| {names} | {key.help} | {where} | `{key.id}` |")
        lines.append("")
    return "\n".join(lines)


def _place_title(place: Place) -> str:
    if place == "app":
        return "everywhere"
    return next((title for name, title in TITLES.items() if name == place), place)
