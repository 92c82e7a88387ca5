"""The setting of Li, Huang, Ildiz, Rawat, Oymak 2024, with the verbs of all settings."""

from lemmata.papers.mechanics.setting import (
    ACYCLIC as ACYCLIC,
)
from lemmata.papers.mechanics.setting import (
    CYCLIC as CYCLIC,
)
from lemmata.papers.mechanics.setting import (
    LOCAL as LOCAL,
)
from lemmata.papers.mechanics.setting import (
    SETTING as SETTING,
)
from lemmata.papers.mechanics.setting import (
    Curve as Curve,
)
from lemmata.papers.mechanics.setting import (
    Dataset as Dataset,
)
from lemmata.papers.mechanics.setting import (
    Recipe as Recipe,
)
from lemmata.papers.mechanics.setting import (
    Training as Training,
)
from lemmata.papers.mechanics.setting import (
    equicorrelated as equicorrelated,
)
from lemmata.papers.mechanics.setting import (
    flow as flow,
)
from lemmata.papers.mechanics.setting import (
    generate as generate,
)
from lemmata.papers.mechanics.setting import (
    path as path,
)
from lemmata.papers.mechanics.setting import (
    pseudo_limits as pseudo_limits,
)

from ._verbs import verbs_of

Instance = Dataset
read, draw, analyze, train, check = verbs_of(SETTING)
