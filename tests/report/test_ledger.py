"""The ledger of an attack, as a page."""

from lemmata.report import ledger_text
from lemmata.search import Certificate, Finding, Outcome, Witness


class Instance:
    name = "small"

    def document(self) -> dict:
        return {"sequences": [["a", "b"]]}


def finding(name: str, status: Outcome, **facts) -> Finding:
    return Finding(f"paper/{name}", f"what {name} says", status, f"why {name}", **facts)


WITNESS = Witness(
    Instance(),
    {"rate": 10.0},
    -0.25,
    {"left": 3.0, "right": 4.0, "t": 7},
    (1, 2),
    Certificate(True, "by balls"),
    None,
    ("names of tokens",),
)
FINDINGS = [
    finding("old", Outcome.FAILS, witness=WITNESS, tried=12, seconds=1.0),
    finding("new", Outcome.FAILS, witness=WITNESS, tried=1_200, seconds=2.0),
    finding("open", Outcome.UNDECIDED, tried=3),
    finding("good", Outcome.SURVIVED, tried=45_573, scopes=("n = 1", "n = 2"), closest=0.125),
    finding("figure", Outcome.NOT_SEARCHABLE),
]


def test_a_reader_sees_what_broke_and_how_hard_the_rest_was_tried() -> None:
    page = ledger_text(FINDINGS, "The title", {"paper/old": "constant", "paper/new": None})
    assert page.startswith(
        "# The title\n\n5 claims in 3 s: 2 fails, 1 survived, 1 undecided, 1 not"
    )
    for line in (
        "known to fail: constant",
        "not known to fail before",
        '  smallest witness: {"sequences": [["a", "b"]]}',
        "    trained with rate 10.0",
        "    3 against 4 at t = 7",
        "    proved: by balls",
        "    does not matter: names of tokens",
        "| paper/good | 45,573 | 0.12 | n = 1; n = 2 |",
        "| paper/figure | why figure |",
    ):
        assert line in page.splitlines(), line
    assert page.index("paper/old") < page.index("paper/open") < page.index("paper/good")


def test_an_outcome_that_nothing_has_is_not_mentioned() -> None:
    page = ledger_text(FINDINGS[3:4], "Short", {})
    assert "Fails" not in page
    assert "Not searchable" not in page
