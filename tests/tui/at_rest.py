"""Whether a process has nothing to do: what a test waits for, however slow the machine is."""

import sys
from pathlib import Path


def at_rest(pid: int) -> bool:
    """All threads wait for something to happen: none runs, would run, or reads from the disk. Where
    the system does not tell, a process that writes nothing is taken to be at rest."""
    if sys.platform != "linux":
        return True
    try:
        threads = [task.read_text() for task in Path(f"/proc/{pid}/task").glob("*/stat")]
    except (FileNotFoundError, ProcessLookupError):  # a thread has just ended
        return False
    return all(text.rpartition(")")[2].split()[0] == "S" for text in threads)
