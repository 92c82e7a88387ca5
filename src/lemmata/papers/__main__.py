"""Write the catalogue anew; with ``ledger``, attack all claims of some papers, or of all.

``rediscovery`` prints the page about failing statements that were found again.
"""

import sys

from ._catalogue import write_catalogue
from ._ledger import write_ledger
from ._paper import papers
from ._rediscovery import rediscovery


def main(words: list[str]) -> None:
    if words[:1] == ["ledger"]:
        chosen = words[1:] or [name for name in papers() if papers()[name].has_setting]
        write_ledger(chosen, tell=lambda line: print(line, file=sys.stderr))
    elif words == ["rediscovery"]:
        sys.stdout.write(rediscovery())
    else:
        write_catalogue()


main(sys.argv[1:])
