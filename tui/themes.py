"""Colours: dark, light, and the terminal's own. What matters is orange, magnitudes are blue."""

from dataclasses import replace

from textual.theme import BUILTIN_THEMES, Theme

DARK = Theme(
    name="dark",
    primary="#5fa8e6",
    secondary="#3f6f98",
    accent="#f0a35e",
    warning="#f0a35e",
    error="#ef6f6c",
    success="#5fa8e6",
    foreground="#d7dae0",
    background="#14171c",
    surface="#14171c",
    panel="#1f242c",
    dark=True,
    variables={
        "border": "#39424f",
        "border-blurred": "#39424f",
        "block-cursor-foreground": "#ffffff",
        "block-cursor-background": "#2b4a68",
        "block-cursor-text-style": "bold",
        "block-cursor-blurred-background": "#2a303a",
        "block-cursor-blurred-foreground": "#d7dae0",
        "block-cursor-blurred-text-style": "none",
    },
)

LIGHT = Theme(
    name="light",
    primary="#1663a6",
    secondary="#7fa6c9",
    accent="#b35300",
    warning="#b35300",
    error="#b3261e",
    success="#1663a6",
    foreground="#1c2126",
    background="#fafbfc",
    surface="#fafbfc",
    panel="#e9edf1",
    dark=False,
    variables={
        "border": "#b4bec9",
        "border-blurred": "#b4bec9",
        "block-cursor-foreground": "#0b1a28",
        "block-cursor-background": "#bcd9f2",
        "block-cursor-text-style": "bold",
        "block-cursor-blurred-background": "#dde4eb",
        "block-cursor-blurred-foreground": "#1c2126",
        "block-cursor-blurred-text-style": "none",
    },
)


def _renamed(theme: Theme, name: str) -> Theme:
    variables = {**theme.variables, "border": "ansi_bright_black"}
    return replace(theme, name=name, variables=variables)


THEMES = (
    DARK,
    LIGHT,
    _renamed(BUILTIN_THEMES["ansi-dark"], "ansi"),
    _renamed(BUILTIN_THEMES["ansi-light"], "ansi-light"),
)
