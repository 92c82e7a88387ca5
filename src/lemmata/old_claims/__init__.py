"""Claims, assumptions, verdicts, and the bench on which claims are checked."""

from lemmata.old_claims._bench import Bench as Bench
from lemmata.old_claims._bench import Experiment as Experiment
from lemmata.old_claims._cases import Case as Case
from lemmata.old_claims._cases import Cases as Cases
from lemmata.old_claims._cases import along as along
from lemmata.old_claims._cases import at_most as at_most
from lemmata.old_claims._cases import each as each
from lemmata.old_claims._cases import same as same
from lemmata.old_claims._check import check as check
from lemmata.old_claims._claim import Assumption as Assumption
from lemmata.old_claims._claim import Claim as Claim
from lemmata.old_claims._claim import Evidence as Evidence
from lemmata.old_claims._claim import claims_of as claims_of
from lemmata.old_claims._claim import statements as statements
from lemmata.old_claims._judge import at_least as at_least
from lemmata.old_claims._judge import equal as equal
from lemmata.old_claims._judge import fact as fact
from lemmata.old_claims._verdict import MEANING as MEANING
from lemmata.old_claims._verdict import Judgement as Judgement
from lemmata.old_claims._verdict import Status as Status
from lemmata.old_claims._verdict import Verdict as Verdict
from lemmata.old_claims._verdict import combine as combine
from lemmata.old_claims._verdict import tally as tally
