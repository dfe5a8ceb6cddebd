"""What the command lines of `dctx` and `dctx-tui` have in common."""

import sys

import click

from .failures import UserError, report
from .stdio import output


class Command(click.Command):
    """A command whose help and version fail like any other output that cannot be written."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            with output():
                return super().parse_args(ctx, args)
        except (BrokenPipeError, UserError) as error:
            sys.exit(report(error, ctx.find_root().info_name or "dctx", sys.stderr))
