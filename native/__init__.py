"""The native core: format readers, interval sweeps, call-path trees (C++, see `_core.pyi`)."""

from typing import Literal

from ._core import (
    BottomUp,
    ColumnStream,
    GroupStats,
    Nesting,
    PathTree,
    ScanResult,
    SqliteColumn,
    SqliteFile,
    SqliteTable,
    StringPool,
    TextColumn,
    TraceCorrupt,
    TreeModel,
    bottom_up,
    cover,
    group_stats,
    inclusive,
    intern_rows,
    is_sorted,
    join_first,
    locate,
    name_key,
    nest,
    sort_order,
    union_ns,
)

ColumnKind = Literal["i64", "i32", "f64", "text"]
"""What a column of an SQLite table is read as."""

__all__ = [
    "BottomUp",
    "ColumnKind",
    "ColumnStream",
    "GroupStats",
    "Nesting",
    "PathTree",
    "ScanResult",
    "SqliteColumn",
    "SqliteFile",
    "SqliteTable",
    "StringPool",
    "TextColumn",
    "TraceCorrupt",
    "TreeModel",
    "bottom_up",
    "cover",
    "group_stats",
    "inclusive",
    "intern_rows",
    "is_sorted",
    "join_first",
    "locate",
    "name_key",
    "nest",
    "sort_order",
    "union_ns",
]
