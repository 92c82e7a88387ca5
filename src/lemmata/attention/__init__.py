"""Softmax attention and its gradients, exact when saturated."""

import jax as _jax

_jax.config.update("jax_enable_x64", True)

from lemmata.attention._attend import attention as attention  # noqa: E402
from lemmata.attention._attend import log_mass as log_mass  # noqa: E402
from lemmata.attention._attend import predict as predict  # noqa: E402
from lemmata.attention._attend import split_mass as split_mass  # noqa: E402
from lemmata.attention._coordinates import CellCoordinates as CellCoordinates  # noqa: E402
from lemmata.attention._coordinates import ValueCoordinates as ValueCoordinates  # noqa: E402
from lemmata.attention._gradients import Evaluation as Evaluation  # noqa: E402
from lemmata.attention._gradients import attention_gradient as attention_gradient  # noqa: E402
from lemmata.attention._gradients import collocation_gradient as collocation_gradient  # noqa: E402
from lemmata.attention._gradients import joint_gradient as joint_gradient  # noqa: E402
from lemmata.attention._gradients import value_margins as value_margins  # noqa: E402
from lemmata.attention._inputs import Inputs as Inputs  # noqa: E402
from lemmata.attention._inputs import number_cells as number_cells  # noqa: E402
from lemmata.attention._inputs import pack as pack  # noqa: E402
from lemmata.attention._losses import FLAT as FLAT  # noqa: E402
from lemmata.attention._losses import LINEAR as LINEAR  # noqa: E402
from lemmata.attention._losses import LOG as LOG  # noqa: E402
from lemmata.attention._losses import SQUARED as SQUARED  # noqa: E402
from lemmata.attention._losses import AbstractLoss as AbstractLoss  # noqa: E402
from lemmata.attention._losses import HeadLoss as HeadLoss  # noqa: E402
from lemmata.attention._losses import LogLoss as LogLoss  # noqa: E402
from lemmata.attention._losses import ScoreLoss as ScoreLoss  # noqa: E402
from lemmata.attention._losses import Shape as Shape  # noqa: E402
from lemmata.attention._losses import own_loss as own_loss  # noqa: E402
from lemmata.attention._scaled import LogScaled as LogScaled  # noqa: E402
from lemmata.attention._scaled import cosine_gap as cosine_gap  # noqa: E402
from lemmata.attention._scaled import log_softplus as log_softplus  # noqa: E402
