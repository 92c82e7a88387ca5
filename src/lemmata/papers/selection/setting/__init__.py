"""What is trained: the task, its encodings, the model, and the two numbers it comes down to."""

from lemmata.papers.selection.setting._analysis import analyze as analyze
from lemmata.papers.selection.setting._desk import TrainingRequest as TrainingRequest
from lemmata.papers.selection.setting._desk import train as train
from lemmata.papers.selection.setting._encodings import all_near_orthogonal as all_near_orthogonal
from lemmata.papers.selection.setting._encodings import check_threshold as check_threshold
from lemmata.papers.selection.setting._encodings import exceed_probability as exceed_probability
from lemmata.papers.selection.setting._encodings import expected_draws as expected_draws
from lemmata.papers.selection.setting._encodings import inner_products as inner_products
from lemmata.papers.selection.setting._encodings import near_orthogonal as near_orthogonal
from lemmata.papers.selection.setting._encodings import (
    near_orthogonal_family as near_orthogonal_family,
)
from lemmata.papers.selection.setting._encodings import one_hot as one_hot
from lemmata.papers.selection.setting._encodings import subset_encodings as subset_encodings
from lemmata.papers.selection.setting._encodings import welch_bound as welch_bound
from lemmata.papers.selection.setting._isometry import Isometry as Isometry
from lemmata.papers.selection.setting._isometry import measure_isometry as measure_isometry
from lemmata.papers.selection.setting._model import Batch as Batch
from lemmata.papers.selection.setting._model import Weights as Weights
from lemmata.papers.selection.setting._model import attend as attend
from lemmata.papers.selection.setting._model import draw_batch as draw_batch
from lemmata.papers.selection.setting._model import loss_and_gradient as loss_and_gradient
from lemmata.papers.selection.setting._model import losses as losses
from lemmata.papers.selection.setting._model import token_free_losses as token_free_losses
from lemmata.papers.selection.setting._plan import OnlineChoices as OnlineChoices
from lemmata.papers.selection.setting._plan import Plan as Plan
from lemmata.papers.selection.setting._plan_file import read as read
from lemmata.papers.selection.setting._population import Average as Average
from lemmata.papers.selection.setting._population import Family as Family
from lemmata.papers.selection.setting._population import Population as Population
from lemmata.papers.selection.setting._population import population as population
from lemmata.papers.selection.setting._task import Task as Task
from lemmata.papers.selection.setting._task import select_tokens as select_tokens
from lemmata.papers.selection.setting._training import Training as Training
from lemmata.papers.selection.setting._training import TrainingRun as TrainingRun
from lemmata.papers.selection.setting._training import run_all as run_all
from lemmata.papers.selection.setting._two_scalars import AbstractAttention as AbstractAttention
from lemmata.papers.selection.setting._two_scalars import FamilyAttention as FamilyAttention
from lemmata.papers.selection.setting._two_scalars import FirstTimes as FirstTimes
from lemmata.papers.selection.setting._two_scalars import Moments as Moments
from lemmata.papers.selection.setting._two_scalars import OneHotAttention as OneHotAttention
from lemmata.papers.selection.setting._two_scalars import Scalars as Scalars
from lemmata.papers.selection.setting._two_scalars import TabulatedAttention as TabulatedAttention
from lemmata.papers.selection.setting._two_scalars import TwoScalars as TwoScalars
from lemmata.papers.selection.setting._two_scalars import first_times as first_times
from lemmata.papers.selection.setting._two_scalars import trajectory as trajectory
from lemmata.papers.selection.setting._words import describe as describe
