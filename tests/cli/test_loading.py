"""Commands are loaded one by one, and what they need while a trace is opened."""

import os
import subprocess
import sys

import click

from dctx.cli.commands import COMMANDS, dctx


def test_every_command_is_found_by_its_name() -> None:
    context = click.Context(dctx)
    for name in dctx.list_commands(context):
        command = dctx.get_command(context, name)
        assert command is not None
        assert command.name == name
    assert dctx.get_command(context, "nothing") is None
    assert len(COMMANDS) == len(dctx.list_commands(context))


def test_a_command_loads_no_other() -> None:
    code = (
        "import click, sys; from dctx.cli.commands import dctx;"
        "dctx.get_command(click.Context(dctx), 'report');"
        "print(*(m for m in ('record', 'compare', 'verdict') if f'dctx.cli.{m}' in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


def test_numpy_is_loaded_beside_without_threads_and_nobody_inherits_it() -> None:
    code = (
        "import os, sys, threading; from dctx.cli.preload import preload;"
        "preload('reports.sheets', 'reports.not_there');"
        "[t.join() for t in threading.enumerate() if t.name == 'dctx-imports'];"
        "print('dctx.reports.sheets' in sys.modules, 'numpy' in sys.modules,"
        " os.environ.get('OPENBLAS_NUM_THREADS'), os.environ['MKL_NUM_THREADS'])"
    )
    environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env=environment | {"MKL_NUM_THREADS": "3"},
    )  # fmt: skip
    assert done.stdout == "True True None 3\n"
    assert done.stderr == ""
