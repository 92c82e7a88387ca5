"""Softmax attention and its gradients, exact when saturated."""

import jax as _jax

_jax.config.update("jax_enable_x64", True)

from ._attend import attention as attention
from ._attend import log_mass as log_mass
from ._attend import predict as predict
from ._attend import split_mass as split_mass
from ._coordinates import CellCoordinates as CellCoordinates
from ._coordinates import ValueCoordinates as ValueCoordinates
from ._gradients import Evaluation as Evaluation
from ._gradients import attention_gradient as attention_gradient
from ._gradients import collocation_gradient as collocation_gradient
from ._gradients import heads_gradient as heads_gradient
from ._gradients import joint_gradient as joint_gradient
from ._gradients import value_margins as value_margins
from ._inputs import Inputs as Inputs
from ._inputs import number_cells as number_cells
from ._inputs import pack as pack
from ._inputs import rounded_up as rounded_up
from ._losses import FLAT as FLAT
from ._losses import LINEAR as LINEAR
from ._losses import LOG as LOG
from ._losses import SQUARED as SQUARED
from ._losses import AbstractLoss as AbstractLoss
from ._losses import HeadLoss as HeadLoss
from ._losses import LogLoss as LogLoss
from ._losses import ScoreLoss as ScoreLoss
from ._losses import Shape as Shape
from ._losses import own_loss as own_loss
from ._minimise import Minimum as Minimum
from ._minimise import is_skewed as is_skewed
from ._minimise import minimise as minimise
from ._minimise import minimise_logits as minimise_logits
from ._risk import Cells as Cells
from ._risk import Design as Design
from ._risk import Entries as Entries
from ._risk import Point as Point
from ._risk import Risk as Risk
from ._risk import normalized as normalized
from ._scaled import LogScaled as LogScaled
from ._scaled import cosine_gap as cosine_gap
from ._scaled import log_softplus as log_softplus
