"""Pictures: one style, and the few shapes that several papers draw.

Plotting libraries are imported when something is drawn.
"""

from lemmata.drawing._columns import plot_column as plot_column
from lemmata.drawing._drawing import Drawing as Drawing
from lemmata.drawing._files import METADATA as METADATA
from lemmata.drawing._files import picture_bytes as picture_bytes
from lemmata.drawing._graph import draw_graph_layout as draw_graph_layout
from lemmata.drawing._graph import draw_map as draw_map
from lemmata.drawing._graph import draw_priority_graph as draw_priority_graph
from lemmata.drawing._layout import Box as Box
from lemmata.drawing._layout import GraphLayout as GraphLayout
from lemmata.drawing._layout import lay_out_graph as lay_out_graph
from lemmata.drawing._letters import legible as legible
from lemmata.drawing._named import NamedGraph as NamedGraph
from lemmata.drawing._named import NamedGraphs as NamedGraphs
from lemmata.drawing._numbers import number as number
from lemmata.drawing._numbers import percent as percent
from lemmata.drawing._shapes import draw_band as draw_band
from lemmata.drawing._shapes import draw_logarithmic as draw_logarithmic
from lemmata.drawing._shapes import draw_tokens as draw_tokens
from lemmata.drawing._style import COLUMN_WIDTH as COLUMN_WIDTH
from lemmata.drawing._style import PALETTE as PALETTE
from lemmata.drawing._style import SMALL as SMALL
from lemmata.drawing._style import TEXT_WIDTH as TEXT_WIDTH
from lemmata.drawing._style import style as style
