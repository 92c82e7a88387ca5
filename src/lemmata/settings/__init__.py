"""What a setting is: how instances are read, drawn, analysed and trained, and what is recorded."""

from ._evidence import Case as Case
from ._evidence import Evidence as Evidence
from ._evidence import Grid as Grid
from ._evidence import as_rows as as_rows
from ._hypothesis import Hypothesis as Hypothesis
from ._hypothesis import hypothesis as hypothesis
from ._hypothesis import union as union
from ._options import Option as Option
from ._options import check_options as check_options
from ._options import number_or as number_or
from ._options import step_numbers as step_numbers
from ._orders import CONTRADICTION as CONTRADICTION
from ._orders import LimitView as LimitView
from ._orders import OrdersView as OrdersView
from ._orders import Selection as Selection
from ._orders import certificate_of as certificate_of
from ._run import Prediction as Prediction
from ._run import Run as Run
from ._setting import AbstractAnalysis as AbstractAnalysis
from ._setting import AbstractSetting as AbstractSetting
from ._setting import Column as Column
from ._setting import Track as Track
from ._setting import silent as silent
