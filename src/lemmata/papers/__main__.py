"""Write the catalogue anew; with ``ledger``, attack all claims of some papers, or of all.

``ledger new`` attacks those that have not been attacked.

``durations`` measures how long figures and claims take at the paper's scale, all or those named.

``rediscovery`` prints the page about failing statements that were found again, ``coverage`` the
one about what the papers say.
"""

import sys

from ._catalogue import write_catalogue
from ._coverage import coverage
from ._durations import measure_durations
from ._ledger import write_ledger
from ._paper import papers
from ._rediscovery import rediscovery


def tell(line: str) -> None:
    print(line, file=sys.stderr)


def main(words: list[str]) -> None:
    if words[:1] == ["ledger"]:
        anew = words[1:2] != ["new"]
        chosen = words[1 if anew else 2 :]
        chosen = chosen or [name for name in papers() if papers()[name].has_setting]
        write_ledger(chosen, anew=anew, tell=tell)
    elif words[:1] == ["durations"]:
        measure_durations(words[1:], tell=tell)
    elif words in (["rediscovery"], ["coverage"]):
        sys.stdout.write({"rediscovery": rediscovery, "coverage": coverage}[words[0]]())
    else:
        write_catalogue()


main(sys.argv[1:])
