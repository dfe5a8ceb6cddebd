"""Case studies as small programs, recorded while they run: what is found leads to the usual remedy.
Skipped without torch, as `make test-torch` has it."""

import importlib.util
import sys
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import pytest

from dctx.analyzers.finding_limits import default_finding_limits
from dctx.analyzers.findings import Finding
from dctx.analyzers.prescribe.facts import Facts
from dctx.analyzers.prescribe.table import prescriptions
from dctx.analyzers.report_rules import DCTX
from dctx.ingest.registry import open_trace
from dctx.queries.trace import Trace
from dctx.reports.called_sheet import called_sheet
from dctx.reports.sheet_context import SheetOptions
from tests.live.test_record import record

pytestmark = [
    pytest.mark.frameworks,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed"),
    pytest.mark.skipif(sys.platform != "linux", reason="live recording needs Linux"),
]

INDEX_AND_LAYOUT = """
import torch
torch.set_num_threads(1)
table = torch.zeros(200_000, 16, requires_grad=True)
rows = torch.tensor([3, 3, 7])
images = torch.zeros(8, 3, 256, 256)

def embed():
    table[rows].sum().backward()  # its gradient is as large as the table

def block():
    images.to(memory_format=torch.channels_last).contiguous()

left, right = torch.ones(64, 32), torch.ones(32, 48)
for _ in range(5):
    embed()
    block()
    left @ right
"""
LOADER = """
import time
import torch

class Slow(torch.utils.data.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, at):
        time.sleep(0.02)
        return torch.ones(4)

for batch in torch.utils.data.DataLoader(Slow(), batch_size=1):
    batch.sum()
"""


def findings(folder: Path, program: str, *options: str) -> Generator[Finding]:
    run = record(folder, program, *options)
    assert run.code == 0, run.said
    with closing(open_trace(folder / "run.dctxrec", cache=False)) as store:
        yield from prescriptions(Facts(Trace(store)), default_finding_limits())


def test_gradients_of_indexing_and_layout_conversions(tmp_path: Path) -> None:
    found = {finding.id: finding for finding in findings(tmp_path, INDEX_AND_LAYOUT, "--shapes")}
    indexing = found["backward-imbalance"]
    assert "The backward pass of aten::index takes" in indexing.sentence
    assert "torch.index_select" in indexing.remedy
    layout = found["layout-conversion"]
    assert "most in block" in layout.sentence
    assert "channels_last" in layout.remedy
    assert "of 8 x 3 x 256 x 256" in layout.evidence[0].what
    with closing(open_trace(tmp_path / "run.dctxrec", cache=False)) as store:
        sheet = called_sheet(Trace(store), SheetOptions(DCTX))
    assert sheet is not None
    of = {column.name: column.values for column in sheet.columns}
    at = of["name"].index("aten::mm")
    assert of["Input Dims"][at] == "((64, 32), (32, 48))"
    assert of["Input type"][at] == "('float', 'float')"
    assert (of["calls"][at], of["GFLOPS"][at]) == (5, 2 * 64 * 32 * 48 / 1e9)


def test_a_program_that_waits_for_its_loader(tmp_path: Path) -> None:
    [loader, *_] = findings(tmp_path, LOADER)
    assert loader.id == "data-loader"
    assert "num_workers=0" in loader.sentence
    assert "workers" in loader.remedy
