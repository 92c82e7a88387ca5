"""What a setting is: how instances are read, drawn, analysed and trained, and what is recorded."""

from lemmata.settings._evidence import Case as Case
from lemmata.settings._evidence import Evidence as Evidence
from lemmata.settings._evidence import Grid as Grid
from lemmata.settings._evidence import as_rows as as_rows
from lemmata.settings._hypothesis import Hypothesis as Hypothesis
from lemmata.settings._hypothesis import union as union
from lemmata.settings._options import Option as Option
from lemmata.settings._options import check_options as check_options
from lemmata.settings._options import number_or as number_or
from lemmata.settings._options import step_numbers as step_numbers
from lemmata.settings._orders import CONTRADICTION as CONTRADICTION
from lemmata.settings._orders import SILENCE as SILENCE
from lemmata.settings._orders import HasOrders as HasOrders
from lemmata.settings._orders import LimitView as LimitView
from lemmata.settings._orders import OrdersView as OrdersView
from lemmata.settings._orders import Selection as Selection
from lemmata.settings._orders import certificate_of as certificate_of
from lemmata.settings._run import Prediction as Prediction
from lemmata.settings._run import Run as Run
from lemmata.settings._setting import AbstractAnalysis as AbstractAnalysis
from lemmata.settings._setting import AbstractSetting as AbstractSetting
from lemmata.settings._setting import Column as Column
from lemmata.settings._setting import Track as Track
from lemmata.settings._setting import silent as silent
