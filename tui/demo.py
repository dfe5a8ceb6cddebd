"""The demo trace that is installed with the package."""

from importlib.resources import files
from pathlib import Path

NAME = "llama-1b-main.sqlite"
TELLS = "a language model on two GPUs, slowed down by its host code"


def demo_trace() -> Path:
    """Path of the demo trace. The package is always installed as files."""
    return Path(str(files("dctx.demo_data") / NAME))
