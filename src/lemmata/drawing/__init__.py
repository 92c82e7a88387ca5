"""Pictures: one style, and the few shapes that several papers draw.

Plotting libraries are imported when something is drawn.
"""

from ._cells import MAP_DPI as MAP_DPI
from ._cells import GridAxis as GridAxis
from ._cells import draw_contours as draw_contours
from ._cells import draw_kinds as draw_kinds
from ._cells import draw_numbers as draw_numbers
from ._cells import draw_side as draw_side
from ._cells import spans as spans
from ._columns import Panel as Panel
from ._columns import plot_column as plot_column
from ._columns import plot_panels as plot_panels
from ._drawing import Drawing as Drawing
from ._files import picture_bytes as picture_bytes
from ._graph import draw_graph_layout as draw_graph_layout
from ._graph import draw_map as draw_map
from ._graph import draw_priority_graph as draw_priority_graph
from ._layout import Box as Box
from ._layout import GraphLayout as GraphLayout
from ._layout import lay_out_graph as lay_out_graph
from ._letters import legible as legible
from ._named import GRAPH_FORMATS as GRAPH_FORMATS
from ._named import NamedGraph as NamedGraph
from ._named import NamedGraphs as NamedGraphs
from ._numbers import number as number
from ._numbers import percent as percent
from ._shapes import draw_arrow as draw_arrow
from ._shapes import draw_band as draw_band
from ._shapes import draw_logarithmic as draw_logarithmic
from ._shapes import draw_sizes as draw_sizes
from ._shapes import draw_tokens as draw_tokens
from ._style import COLUMN_WIDTH as COLUMN_WIDTH
from ._style import PALETTE as PALETTE
from ._style import SMALL as SMALL
from ._style import TEXT_WIDTH as TEXT_WIDTH
from ._style import new_figure as new_figure
from ._style import style as style
