"""Real runs: alone or in a batch, killed and resumed, taken apart and put together."""

import signal
import subprocess
import sys

import jax
import numpy as np
import pytest

from lemmata.papers.convergence.setting import Dataset, TwoStage, TwoStageRun
from lemmata.training import Recording, Store

KILLED = """
import os, signal, sys
from pathlib import Path
from lemmata.papers.convergence.setting import Dataset, TwoStage
from lemmata.training import Store

move, moves = os.replace, []

def replace(*paths):
    moves.append(paths)
    if len(moves) == 20:
        os.kill(os.getpid(), signal.SIGKILL)
    move(*paths)

os.replace = replace
TwoStage().run([Dataset.from_sentences("tiny", ["abab", "ba"])], store=Store(Path(sys.argv[1])))
"""


@pytest.fixture(scope="module")
def tiny() -> Dataset:
    return Dataset.from_sentences("tiny", ["abab", "ba"])


@pytest.fixture(scope="module")
def alone(tiny) -> TwoStageRun:
    return TwoStage().run([tiny])


def bits(recording: Recording) -> list[bytes]:
    leaves = [*recording.series.values(), *jax.tree.leaves(recording.final)]
    return [np.asarray(leaf).tobytes() for leaf in leaves]


def test_a_member_of_a_batch_trains_as_if_alone(trained, alone):
    batch, i = trained["lemma7_witness"]
    for together, single in ((batch.stage1, alone.stage1), (batch.stage2, alone.stage2)):
        for name, rows in single.series.items():
            np.testing.assert_allclose(
                together.series[name][i], rows[0], rtol=1e-12, atol=1e-12, err_msg=name
            )
    np.testing.assert_allclose(batch.key_query(i), alone.key_query(0), rtol=1e-12)
    np.testing.assert_allclose(batch.value_logits(i), alone.value_logits(0), rtol=1e-12)


def test_a_killed_run_resumes_to_the_same_bits(tmp_path, tiny, alone):
    # killed by the system between writing its 20th checkpoint and moving it into place
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path)], capture_output=True, check=False
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    finished = [path for path in tmp_path.iterdir() if path.suffix == ".npz"]
    assert len(finished) == 2
    assert all(np.load(path).files for path in finished)
    done: list[int] = []
    resumed = TwoStage().run([tiny], store=Store(tmp_path), progress=done.append)
    assert done[:2] == [900, 4 * 64 - 1]
    assert sum(done) == 1800
    assert bits(resumed.stage1) == bits(alone.stage1)
    assert bits(resumed.stage2) == bits(alone.stage2)


def test_selected_runs_keep_their_weights(trained):
    batch, i = trained["lemma7_witness"]
    chosen = batch.select([i + 1, i])
    assert [member.name for member in chosen.datasets] == ["random_K6", "lemma7_witness"]
    for row, j in enumerate([i + 1, i]):
        np.testing.assert_array_equal(chosen.key_query(row), batch.key_query(j))
        np.testing.assert_array_equal(chosen.value_logits(row), batch.value_logits(j))
        assert chosen.rate_kq[row] == batch.rate_kq[j]
        for name, rows in chosen.stage2.series.items():
            np.testing.assert_array_equal(rows[row], batch.stage2.series[name][j])
