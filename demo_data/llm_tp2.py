"""Makes the demo pair: LLM inference on two GPUs, release v1.1 and the slower main branch.

    python -m dctx.demo_data.llm_tp2 OUTDIR [--skew 150us] [--graph-mode graph]

Everything is synthetic and says so in its metadata; the same arguments make the same tables.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from .llm_kernels import LAUNCHED_MAIN, LAUNCHED_V1_1
from .llm_rank import GraphMode, Rank
from .llm_recipe import RANKS, VARIANTS, Variant, plan_steps
from .llm_tables import write_tables
from .llm_truth import comparison_truth, trace_truth
from .nsys_export import ExportWriter

DEFAULT_SKEW_NS = 13_000
BEGIN_NS = 20_000_000


def play(variant: Variant, skew_ns: int, mode: GraphMode) -> list[Rank]:
    """Run all ranks of a variant; what they did is in each one's `seen`."""
    launched = LAUNCHED_V1_1 if variant is VARIANTS[0] else LAUNCHED_MAIN
    ranks: list[Rank] = []
    for index in range(RANKS):
        rank = Rank(variant, index, skew_ns, launched, mode)
        now = rank.start_up(BEGIN_NS)
        for plan in plan_steps(variant, index):
            now = rank.step(plan, now)
        ranks.append(rank)
    return ranks


def write_trace(
    path: Path, variant: Variant, *, skew_ns: int = DEFAULT_SKEW_NS, mode: GraphMode = "node"
) -> dict[str, object]:
    """Write one trace and return its truth: what a reader of the file must find."""
    ranks = play(variant, skew_ns, mode)
    with ExportWriter(path) as out:
        write_tables(out, variant, ranks, mode)
    return trace_truth(variant, ranks, mode, skew_ns)


def _nanoseconds(text: str) -> int:
    for suffix, scale in (("ns", 1), ("us", 1_000), ("ms", 1_000_000)):
        if text.endswith(suffix):
            return round(float(text.removesuffix(suffix)) * scale)
    raise argparse.ArgumentTypeError(f"{text!r} needs a unit: ns, us or ms")


def main(arguments: Sequence[str] | None = None) -> None:
    """Write both traces and the truth file."""
    parser = argparse.ArgumentParser(prog="python -m dctx.demo_data.llm_tp2", description=__doc__)
    parser.add_argument("outdir", type=Path)
    parser.add_argument("--skew", type=_nanoseconds, default=DEFAULT_SKEW_NS, metavar="13us",
                        help="how far the second rank runs behind the first")  # fmt: skip
    parser.add_argument("--graph-mode", choices=("node", "graph"), default="node",
                        help="how CUDA graphs were traced")  # fmt: skip
    chosen = parser.parse_args(arguments)
    chosen.outdir.mkdir(parents=True, exist_ok=True)
    traces = {
        variant.file: write_trace(
            chosen.outdir / variant.file, variant, skew_ns=chosen.skew, mode=chosen.graph_mode
        )
        for variant in VARIANTS
    }
    truth = {"traces": traces, "comparison": comparison_truth(*VARIANTS)}
    text = json.dumps(truth, indent=1, sort_keys=True) + "\n"
    (chosen.outdir / "truth.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
