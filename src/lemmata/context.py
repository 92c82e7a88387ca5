"""The setting of Yang, Huang, Liang, Chi 2024, with the verbs of all settings."""

from lemmata.papers.context.setting import (
    SETTING as SETTING,
)
from lemmata.papers.context.setting import (
    FrozenAttention as FrozenAttention,
)
from lemmata.papers.context.setting import (
    Plan as Plan,
)
from lemmata.papers.context.setting import (
    Task as Task,
)
from lemmata.papers.context.setting import (
    Training as Training,
)
from lemmata.papers.context.setting import (
    draw_task as draw_task,
)
from lemmata.papers.context.setting import (
    posterior_mean as posterior_mean,
)
from lemmata.papers.context.setting import (
    represent as represent,
)
from lemmata.papers.context.setting import (
    ridge_predictions as ridge_predictions,
)

from ._verbs import verbs_of

Instance = Plan
read, draw, analyze, train, check = verbs_of(SETTING)
