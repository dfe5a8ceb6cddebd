"""Opens a trace without the application and prints, as JSON, when each stage began:
its name, the seconds since the start, and the CPU seconds of all threads until then.

python -m bench.stages TRACE      (with DCTX_CACHE_DIR set: an empty one for a first open)
"""

import json
import sys
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import perf_counter, process_time

from dctx.ingest.progress import Done
from dctx.ingest.registry import open_trace
from dctx.ingest.store import Store


def main() -> None:
    begin = perf_counter()
    stages: list[tuple[str, float, float]] = []
    summary: list[float] = []

    def progress(stage: str, done: Done) -> None:
        if not stages or stages[-1][0] != stage:
            stages.append((stage, perf_counter() - begin, process_time()))

    def on_summary(store: Store) -> None:
        summary.append(perf_counter() - begin)

    store = open_trace(Path(sys.argv[1]), progress=progress, on_summary=on_summary)
    total = perf_counter() - begin
    store.close()
    usage = getrusage(RUSAGE_SELF)
    print(
        json.dumps(
            {
                "stages": stages,
                "summary_s": summary[0] if summary else None,
                "total_s": total,
                "cpu_s": usage.ru_utime + usage.ru_stime,
            }
        )
    )


if __name__ == "__main__":
    main()
