"""The application that a widget stands in, typed: `app = getters.app(any_app)`."""

from textual.app import App


def any_app() -> type[App[object]]:
    """The class of the application, whichever it is."""
    return App
