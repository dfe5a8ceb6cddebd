"""Names that a program gave to its streams through NVTX."""

from .reader import TableReader

Key = tuple[int, int | None, int]
"""(pid, context, stream)."""


def read_stream_names(reader: TableReader) -> dict[Key, str]:
    """Names given with NVTX. The last one of a stream counts."""
    columns = ("processId", "contextId", "streamId")
    table = reader.find("TARGET_INFO_NVTX_CUDA_STREAM", (*columns, "name"))
    if table is None:
        return {}
    rows = reader.read(table, {**dict.fromkeys(columns, "i64"), "name": "text"})
    records = zip(rows.records(*columns), rows.texts("name"), strict=True)
    names = {
        (pid, context, stream): name
        for (pid, context, stream), name in records
        if pid is not None and stream is not None and name
    }
    reader.account.leave_out(table, "repeated", rows.count - len(names))
    return names
