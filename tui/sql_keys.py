"""The keys of the SQL view and of the field for a statement, part of the one table in `keys`."""

from .key_model import Group, Key

# fmt: off
SQL_KEYS: tuple[Key, ...] = (
    Key("sql.edit", ("i",), "edit", "edit",
        "Type a statement", Group.SHOW, ("sql",), footer=2, words=("statement", "query")),
    Key("sql.tables", ("T",), "side('tables')", "tables",
        "The tables of the trace with their columns; enter shows rows", Group.SHOW, ("sql",),
        footer=5, words=("columns", "schema")),
    Key("sql.queries", ("Q",), "side('queries')", "queries",
        "Saved statements: those that come with dctx, and your own", Group.SHOW, ("sql",),
        footer=4, words=("saved", "examples")),
    Key("sql.history", ("H",), "side('history')", "history",
        "Statements that were run before, the latest first", Group.SHOW, ("sql",), footer=6),
    Key("sql.save", ("w",), "save_query", "save",
        "Keep the statement among your own under a name", Group.TAKE, ("sql",), footer=7),
    Key("statement.run", ("f5", "ctrl+r"), "run", "run",
        "Run the statement", Group.SHOW, ("statement",), footer=1),
    Key("statement.leave", ("escape",), "leave", "rows",
        "To the rows; the statement stays", Group.GO, ("statement",), footer=2),
    Key("statement.older", ("ctrl+up", "alt+up"), "older", "older",
        "The statement run before", Group.FIND, ("statement",), footer=3),
    Key("statement.newer", ("ctrl+down", "alt+down"), "newer", "newer",
        "The statement run after", Group.FIND, ("statement",), footer=4),
)
# fmt: on
