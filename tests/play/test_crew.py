"""Who computes what: nothing is compiled twice, and nobody waits for what others asked for."""

import asyncio
from typing import Any

import pytest

from lemmata.play import _crew
from lemmata.play._crew import Crew, Job, Worker
from lemmata.play._requests import Ask


class Process(Worker):
    """It does what the test says, and is none."""

    def __init__(self, crew: Crew, role: str):
        self.crew, self.role = crew, role
        self.job = self.compiled = self.ends = None
        self.halts = 0

    def start(self, job: Job) -> None:
        self.job = job

    def stop(self) -> None:
        self.halts += 1

    def end_job(self, kind: str = "done") -> None:
        assert self.job is not None
        self.crew.heard(self, (self.job.number, kind, None))


class Said:
    """What is told about a job."""

    def __init__(self, crew: Crew, kind: str, text: str):
        self.told: list[str] = []
        self.job = Job(Ask(kind, "mechanics", text), lambda kind, news: self.told.append(kind))
        crew.submit(self.job)


@pytest.fixture
def crew(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(_crew, "Worker", Process)

    async def hire() -> Crew:
        return Crew(None)

    return asyncio.run(hire())


def test_training_waits_for_its_program_and_gets_the_process_that_has_it(crew: Any) -> None:
    prepared = Said(crew, "prepare", "a b a")
    (first,) = crew.workers
    trained = Said(crew, "train", "a b a")
    assert crew.workers == [first]
    assert first.job is prepared.job
    first.end_job()
    assert prepared.told == ["done"]
    assert first.job is trained.job


def test_what_is_compiled_is_not_compiled_again(crew: Any) -> None:
    Said(crew, "prepare", "a b a")
    crew.workers[0].end_job()
    assert Said(crew, "prepare", "a b a").told == ["done"]
    assert all(worker.job is None for worker in crew.workers)
    training = Said(crew, "train", "b a b")
    compiling = next(worker for worker in crew.workers if worker.job is training.job)
    assert Said(crew, "prepare", "b a b").told == ["done"]  # the training compiles it
    compiling.end_job()
    assert Said(crew, "prepare", "b a b").told == ["done"]


def test_nobody_waits_for_a_program_of_others(crew: Any) -> None:
    Said(crew, "prepare", "a b a")
    first = crew.workers[0]
    trained = Said(crew, "train", "b a b")
    (second,) = [worker for worker in crew.workers if worker is not first]
    assert second.job is trained.job
    waiting = Said(crew, "prepare", "c a c")  # one at a time
    assert len(crew.workers) == 2
    assert waiting.told == []
    crew.halt(waiting.job)
    assert waiting.told == ["halted"]


def test_a_program_that_was_called_off_is_not_waited_for(crew: Any) -> None:
    prepared = Said(crew, "prepare", "a b a")
    first = crew.workers[0]
    crew.halt(prepared.job)
    assert first.halts == 1
    trained = Said(crew, "train", "a b a")
    assert crew.workers[1].job is trained.job
    first.end_job("halted")
    assert first.compiled is None


def test_after_the_first_program_another_process_stands_by(crew: Any) -> None:
    Said(crew, "prepare", "a b a")
    assert len(crew.workers) == 1
    crew.workers[0].end_job()
    assert [worker.role for worker in crew.workers] == ["training", "training"]


def test_reading_has_a_process_of_its_own(crew: Any) -> None:
    for kind in ("prepare", "glance", "judge", "attack"):
        Said(crew, kind, "a b a")
    read = Said(crew, "analyze", "a b a")
    assert any(worker.job is read.job for worker in crew.workers)
