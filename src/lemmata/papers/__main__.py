"""Write the catalogue anew; with ``ledger``, attack all claims of some papers, or of all."""

import sys

from ._catalogue import write_catalogue
from ._ledger import write_ledger
from ._paper import papers


def main(words: list[str]) -> None:
    if words[:1] == ["ledger"]:
        chosen = words[1:] or [name for name in papers() if papers()[name].has_setting]
        write_ledger(chosen, tell=lambda line: print(line, file=sys.stderr))
    else:
        write_catalogue()


main(sys.argv[1:])
