"""What an analysis cannot do with what it was asked."""


class RequestError(ValueError):
    """A pattern, a threshold or a window that cannot be used: why, and what to do."""
