"""What a person reads: tables in the terminal, files of figures, and the page.

Nothing here knows a paper.
"""

from lemmata.report._analysis import write_analysis as write_analysis
from lemmata.report._latex import latex_table as latex_table
from lemmata.report._plain import as_json as as_json
from lemmata.report._plain import plain as plain
from lemmata.report._report import FigureEntry as FigureEntry
from lemmata.report._report import write_report as write_report
from lemmata.report._save import save_drawing as save_drawing
from lemmata.report._terminal import terminal_table as terminal_table
