"""The catalogue that ``lemmata list`` reads says what the claims say."""

import json
import subprocess
import sys

from lemmata.papers import catalogue_of, papers
from lemmata.papers._catalogue import PLACE


def test_the_catalogue_is_that_of_the_papers() -> None:
    """`python -m lemmata.papers` writes it anew."""
    own = [papers()[key] for key in ("context", "convergence", "mechanics", "selection")]
    assert json.loads(PLACE.read_text(encoding="utf-8")) == catalogue_of(own)


def test_listing_loads_neither_arrays_nor_papers() -> None:
    program = (
        "import sys\nfrom lemmata.cli import main\nsys.argv = ['lemmata', 'list']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'jax', 'numpy', 'scipy', 'matplotlib', 'lemmata.papers'} & sys.modules.keys()\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "mechanics/theorem-3" in done.stdout
