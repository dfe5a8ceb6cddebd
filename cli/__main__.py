"""Entry point of the `dctx` command: ready for Ctrl+C before anything large is imported."""

from ..reports.startup import cancel_at_once


def main() -> None:
    """Run the command line."""
    cancel_at_once("dctx")
    from .commands import run

    run()


if __name__ == "__main__":
    main()
