"""What a failed command says and exits with."""

import io

import pytest

from dctx.ingest.errors import CancelledError, DamagedTraceError, TraceError
from dctx.reports.exit_codes import ExitCode
from dctx.reports.failures import UserError, report


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (
            TraceError("/x.sqlite", "it is empty.", "Export it again."),
            2,
            "dctx: error: /x.sqlite: it is empty. Export it again.\n",
        ),
        (
            DamagedTraceError("/x.sqlite", "it is cut.", "Export it again.", where="page 7"),
            2,
            "dctx: error: /x.sqlite (page 7): it is cut. Export it again.\n",
        ),
        (UserError("No such column."), 2, "dctx: error: No such column.\n"),
        (CancelledError(), 130, "dctx: cancelled\n"),
        (KeyboardInterrupt(), 130, "dctx: cancelled\n"),
        (RuntimeError("Query interrupted"), 130, "dctx: cancelled\n"),
    ],
)
def test_one_paragraph(error: BaseException, code: int, text: str) -> None:
    stream = io.StringIO()
    assert report(error, "dctx", stream) == code
    assert stream.getvalue() == text


def test_a_fault_of_ours_hides_the_traceback_until_asked() -> None:
    try:
        raise ZeroDivisionError("by zero")
    except ZeroDivisionError as caught:
        error = caught
    stream = io.StringIO()
    assert report(error, "dctx", stream) is ExitCode.FAULT
    assert "ZeroDivisionError: by zero" in stream.getvalue()
    assert "--debug" in stream.getvalue()
    assert "Traceback" not in stream.getvalue()
    debugged = io.StringIO()
    assert report(error, "dctx", debugged, debug=True) is ExitCode.FAULT
    assert debugged.getvalue().startswith("Traceback")
    assert debugged.getvalue().splitlines()[-1].startswith("dctx: error: internal fault")
