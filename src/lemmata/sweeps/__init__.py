"""Sweeps: a setting or a claim at every point of a grid, here, in processes or on a cluster."""

from ._grid import points_of as points_of
from ._grid import read_axis as read_axis
from ._pictures import draw_sweep as draw_sweep
from ._results import Results as Results
from ._sweep import sweep as sweep
from ._table import Fit as Fit
from ._table import SweepTable as SweepTable
