"""What Nsight Compute measured of single kernels, from its reports and their CSV exports."""

from .kernel import NcuKernel, NcuLine, NcuRule
from .read import read_ncu

__all__ = ["NcuKernel", "NcuLine", "NcuRule", "read_ncu"]
