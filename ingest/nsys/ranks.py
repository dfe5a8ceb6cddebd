"""Names and ranks that are told apart from the events: NVTX thread names, MPI ranks."""

from .capture import rank_in, read_ranks
from .identity import Identity
from .reader import TableReader


def name_threads_and_ranks(
    reader: TableReader, identity: Identity, thread_names: dict[int, str]
) -> None:
    """Apply names given through NVTX (by lane), and ranks from MPI_RANKS or from such names.

    Also accounts for the names of processes and threads that own no events."""
    for lane_id, name in thread_names.items():
        identity.name_thread(lane_id, name)
        named, owner = rank_in(name), identity.lanes[lane_id].process
        if named is not None and owner >= 0:
            identity.processes[owner].rank = named
    for global_tid, rank in read_ranks(reader).items():
        process = identity.known_process(global_tid)
        if process is not None:
            identity.processes[process].rank = rank
    for table, columns, used in (
        ("PROCESSES", ("globalPid", "name"), len(identity.named_processes)),
        ("ThreadNames", ("nameId", "globalTid"), len(identity.named_threads)),
    ):
        found = reader.find(table, columns)
        if found is not None:
            reader.account.leave_out(found, "no_events", reader.account.rows[found] - used)
