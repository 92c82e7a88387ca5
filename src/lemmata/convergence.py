"""The setting of Huang, Liang, Yang 2024, with the verbs of all settings."""

from lemmata.papers.convergence.setting import (
    SETTING as SETTING,
)
from lemmata.papers.convergence.setting import (
    Dataset as Dataset,
)
from lemmata.papers.convergence.setting import (
    Joint as Joint,
)
from lemmata.papers.convergence.setting import (
    Realizable as Realizable,
)
from lemmata.papers.convergence.setting import (
    Rejection as Rejection,
)
from lemmata.papers.convergence.setting import (
    Samples as Samples,
)
from lemmata.papers.convergence.setting import (
    TwoStage as TwoStage,
)
from lemmata.papers.convergence.setting import (
    example_1 as example_1,
)
from lemmata.papers.convergence.setting import (
    generate as generate,
)

from ._verbs import verbs_of

Instance = Dataset
Training = TwoStage
read, draw, analyze, train, check = verbs_of(SETTING)
