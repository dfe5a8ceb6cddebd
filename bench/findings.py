"""How long all findings of a PyTorch trace take whose store is in the cache."""

import tempfile
from pathlib import Path

from dctx.analyzers.finding_limits import default_finding_limits
from dctx.analyzers.findings import Finding
from dctx.analyzers.prescribe.facts import Facts
from dctx.analyzers.prescribe.table import prescriptions
from dctx.ingest.registry import open_trace
from dctx.queries.trace import Trace

from .kineto import trace
from .open import private
from .results import Figure
from .verdict import environment, timed

MB = 1_000_000
TARGET_S = 1.0
TARGET_MB = 522


def run(megabytes: float, repeats: int, source: Path | None) -> list[Figure]:
    """Open once, so that the store is in the cache, then ask, each time anew."""
    path = trace(round(megabytes * MB), source)
    label = f"{path.stat().st_size / MB:.0f} MB .json, store in the cache: all findings"
    with (
        tempfile.TemporaryDirectory(prefix="dctx-bench-") as folder,
        environment({**private(Path(folder)), "PYTHONDONTWRITEBYTECODE": ""}),
    ):
        open_trace(path).close()
        store = open_trace(path)
        opened = Trace(store)
        found: list[tuple[Finding, ...]] = []

        def ask() -> None:
            found.append(prescriptions(Facts(opened), default_finding_limits()))

        clock, cpu = timed(ask, max(repeats, 3))
        store.close()
    target = TARGET_S if megabytes <= TARGET_MB else None
    return [
        Figure(f"{label} ({len(found[-1])})", clock, "s", target),
        Figure(f"{label}, CPU time", cpu, "s"),
    ]
