"""The setting of Wang, Wei, Hsu, Lee 2024, with the verbs of all settings."""

from lemmata.papers.selection.setting import (
    SETTING as SETTING,
)
from lemmata.papers.selection.setting import (
    Plan as Plan,
)
from lemmata.papers.selection.setting import (
    Task as Task,
)
from lemmata.papers.selection.setting import (
    Training as Training,
)
from lemmata.papers.selection.setting import (
    measure_isometry as measure_isometry,
)
from lemmata.papers.selection.setting import (
    near_orthogonal as near_orthogonal,
)
from lemmata.papers.selection.setting import (
    one_hot as one_hot,
)
from lemmata.papers.selection.setting import (
    population as population,
)

from ._verbs import verbs_of

Instance = Plan
read, draw, analyze, train, check = verbs_of(SETTING)
