"""Nobody 2030, *Descent on a parabola*: a complete paper in one file."""

import json
from dataclasses import dataclass
from pathlib import Path

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

import lemmata as lm


# What is trained on: one number, the curvature c of f(w) = c w^2 / 2.
@dataclass(frozen=True)
class Parabola:
    name: str
    curvature: float

    @property
    def problems(self) -> tuple[lm.Problem, ...]:
        if self.curvature > 0:
            return ()
        return (lm.Problem("flat", self.name, f"the curvature is {self.curvature}"),)

    def document(self) -> dict[str, object]:
        return {"name": self.name, "curvature": self.curvature}


# How it is trained: w <- w - rate c w, from w = 1.
class Descent(lm.AbstractDynamics[Float[Array, "*batch"]]):
    curvature: Float[Array, "*batch"]
    rate: Float[Array, "*batch"]

    def init(self) -> Float[Array, ""]:
        return jnp.ones_like(self.curvature)

    def step(self, state: Float[Array, ""]) -> Float[Array, ""]:
        return state - self.rate * self.curvature * state

    def measure(self, state: Float[Array, ""]) -> dict[str, Float[Array, ""]]:
        return {"size": jnp.abs(state), "loss": self.curvature * state**2 / 2}


@dataclass(frozen=True)
class ParabolaAnalysis(lm.AbstractAnalysis):
    parabola: Parabola

    def document(self) -> dict[str, object]:
        largest = 2 / self.parabola.curvature if self.parabola.curvature > 0 else None
        return {**self.parabola.document(), "largest_stable_rate": largest}

    def describe(self):
        yield f"{self.parabola.name}: stable below {self.document()['largest_stable_rate']}"


class ParabolaSetting(lm.AbstractSetting[Parabola]):
    key = "parabola"
    instance_type = Parabola
    hypotheses = (
        lm.Hypothesis("curved", "Assumption 1", "the curvature is positive", frozenset({"flat"})),
    )
    columns = (lm.Column("size", "|w|"), lm.Column("loss", "loss"))
    options = (
        lm.Option("rate", "--lr", "the step size (0.1)", float, "a number"),
        lm.Option("steps", "--steps", "the number of steps (100)", int, "a whole number"),
    )

    def read(self, file: Path, embeddings: Path | None = None) -> list[Parabola]:
        try:
            rows = json.loads(file.read_text())
            return [Parabola(row["name"], float(row["curvature"])) for row in rows]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise lm.InputError(
                f'{file}: expected [{{"name": ..., "curvature": ...}}, ...] ({error})'
            ) from error

    def draw(self, count: int, seed: int = 0) -> list[Parabola]:
        curvatures = np.random.default_rng(seed).uniform(0.1, 1.0, count)
        return [Parabola(f"parabola {i}", float(c)) for i, c in enumerate(curvatures)]

    def analyze(self, instance: Parabola) -> ParabolaAnalysis:
        return ParabolaAnalysis(instance)

    def train(
        self, instances, options, *, store=None, track=lambda title, total: lambda done: None
    ):
        rate, steps = options.get("rate", 0.1), options.get("steps", 100)
        curvature = jnp.array([parabola.curvature for parabola in instances])
        dynamics = Descent(curvature, jnp.full(len(instances), rate))
        progress = track("descent", len(instances) * steps)
        recording = lm.run(dynamics, lm.log_spaced(steps), store=store, progress=progress)
        columns = recording.series | {"rate": np.full((len(instances), 1), rate)}
        evidence = lm.Evidence(tuple(instances), recording.steps, columns)
        everything = (True,) * len(instances)
        rule = f"{steps} steps of size {rate} from w = 1"
        return lm.Run(
            self.key, rule, tuple(instances), evidence, (None,) * len(instances), everything
        )


SETTING = ParabolaSetting()


# What the paper states. A version with another constant stands in the same declaration.
statement = lm.statements("parabola", SETTING)


@statement(
    "lemma-1",
    "Section 2",
    "|w(t)| <= exp(-rate c t) as long as rate c <= 1.",
    hypotheses=(SETTING.hypothesis("curved"),),
    on=lm.experiment(SETTING, rate=0.5),
    kind="constant",
    versions=[
        lm.Version("appendix", statement="|w(t)| <= exp(-rate c t / 2)", parameters={"speed": 0.5})
    ],
    speed=1.0,
)
def lemma_1(run: lm.Evidence, speed: float):
    curvature = run.each(lambda parabola: parabola.curvature)
    return lm.at_most(run.size, np.exp(-speed * run.rate * curvature * run.steps), baseline=1.0)


def draw_descent(bench: lm.Bench) -> lm.Drawing:
    from matplotlib.figure import Figure

    run = bench.evidence(lm.experiment(SETTING, rate=0.5))
    picture = Figure()
    picture.subplots().semilogy(run.steps, run.size.T)
    return lm.Drawing(picture, "|w(t)| on random parabolas.", {"final": run.size[:, -1].tolist()})


PAPER = lm.Paper(
    key="parabola",
    title="Descent on a parabola",
    authors="Nobody",
    year=2030,
    contents=lm.Contents(
        setting=SETTING,
        claims=lemma_1.claims,
        figures=(lm.Figure("parabola/1", "Descent", draw_descent),),
    ),
)
