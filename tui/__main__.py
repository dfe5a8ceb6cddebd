"""The `dctx-tui` command: opens the application, nothing else."""

import os
import sys

from ..reports.startup import cancel_at_once


def main() -> None:
    """Entry point. `dctx-tui TRACE` needs no parser of options, a tenth of the time to start."""
    cancel_at_once("dctx-tui")
    from ..reports.stdio import prepare_streams

    prepare_streams()
    arguments = sys.argv[1:]
    if len(arguments) == 1 and arguments[0][:1] not in ("", "-") and "DCTX_THEME" not in os.environ:
        from pathlib import Path

        from .launch import Options, launch

        sys.exit(launch(Path(arguments[0]), Options()))
    from .command import command

    command(prog_name="dctx-tui")


if __name__ == "__main__":
    main()
