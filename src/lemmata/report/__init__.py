"""What a person reads: tables in the terminal, files of figures, and the page.

Nothing here knows a paper.
"""

from ._analysis import write_analysis as write_analysis
from ._corpus import write_corpus as write_corpus
from ._findings import findings_table as findings_table
from ._findings import findings_text as findings_text
from ._findings import ledger_text as ledger_text
from ._latex import latex_table as latex_table
from ._overview import FigureEntry as FigureEntry
from ._report import write_report as write_report
from ._save import save_drawing as save_drawing
from ._terminal import LedgerTable as LedgerTable
from ._training import cell as cell
from ._training import columns_of as columns_of
from ._training import write_training as write_training
