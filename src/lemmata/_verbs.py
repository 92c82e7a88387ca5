"""The verbs of the public page: read, draw, analyze, train, check."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import partial
from itertools import chain
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TypeVar

from lemmata.claims import Bench, Claim, Scale, Verdict, Verdicts, declared_by
from lemmata.claims import check as check_claim
from lemmata.corpus import Corpus, CorpusTraining, Reading, build, is_store, train_corpus
from lemmata.papers import (
    Listed,
    Paper,
    claims_in,
    find_setting,
    is_file,
    papers,
    settings,
    theorems_about,
    with_ledger,
)
from lemmata.search import Finding, Findings, Watch, attack
from lemmata.settings import AbstractSetting, Track, options_in, silent
from lemmata.training import Store

from ._analyses import Analyses, Analysis
from ._engines import Announce
from ._errors import InputError, unknown_name

OptionsT = TypeVar("OptionsT")

DEFAULT_SETTING = "mechanics"

Home = str | AbstractSetting[Any] | None
"""A setting: a paper's key, a file, a value, or whatever the data belongs to."""


def read(file: str | Path, setting: Home = None, embeddings: str | Path | None = None) -> list[Any]:
    """The instances of a file, as the setting reads them."""
    second = None if embeddings is None else Path(embeddings)
    return find_setting(setting or DEFAULT_SETTING).read(Path(file), second)


def draw(setting: str | AbstractSetting[Any], count: int = 1, seed: int = 0) -> list[Any]:
    """Random instances of a setting."""
    if not isinstance(count, Integral) or count < 1:
        raise InputError(f"count must be at least 1; got {count!r}")
    if not isinstance(seed, Integral) or seed < 0:
        raise InputError(f"seed must be a whole number that is not negative; got {seed!r}")
    return find_setting(setting).draw(count, seed)


def analyze(
    data: Any,
    setting: Home = None,
    embeddings: str | Path | None = None,
    *,
    store: str | Path | None = None,
    memory: int = 2 << 30,
    workers: int = 1,
    scheduler: str | None = None,
    track: Track = silent,
    announce: Announce = lambda line: None,
    **reading: Any,
) -> Any:
    """What data means to a setting: one analysis for one instance, ``Analyses`` for several.

    With a ``window``, or for a store, data is a corpus, and so is the answer: ``lm.Corpus``.

    Args:
        data: an instance, a list of them, the path of a file (always several), of a corpus or of
            the store of one.
        setting: found from the instances if left out.
        embeddings: a second file, if the setting takes one.
        store: where the store of a corpus goes; NAME.store beside the corpus if left out.
        memory: bytes to stay within, for a corpus.
        workers: processes, for a corpus; several are spawned, which wants a guarded main module.
        scheduler: the address of a Dask scheduler, which then counts the corpus.
        track: shows progress on a corpus.
        announce: is told when a Dask cluster has no workers.
        reading: how a corpus is read: ``window``, ``tokenizer``, ``min_count``, ``column``,
            ``held_out``; see ``lemmata.corpus.Reading``.
    """
    if isinstance(data, str | Path) and (reading or is_store(Path(data))):
        if setting is not None or embeddings is not None:
            raise InputError("a corpus takes no setting and no embeddings")
        if is_store(Path(data)):
            if reading or store is not None:
                raise InputError(f"{data} is a store: it has been read already")
            return Corpus(data)
        place = Path(f"{data}.store") if store is None else Path(store)
        where = {"memory": memory, "workers": workers, "scheduler": scheduler}
        told = {"track": track, "announce": announce}
        return Corpus(build(Path(data), place, _checked(Reading, reading), **where, **told))
    if reading or store is not None or scheduler is not None:
        raise InputError("these options are for a corpus: say window=32, and give a path")
    instances, home, single = _instances(data, setting, embeddings)
    known = [paper for paper in papers().values() if paper.has_setting and paper.setting is home]

    def analysis_of(instance: Any) -> Analysis:
        own = home.analyze(instance)
        theorems = (theorems_about(paper, instance, own.problems) for paper in known)
        return Analysis(instance, own, tuple(chain.from_iterable(theorems)))

    analyses = Analyses(map(analysis_of, instances))
    return analyses[0] if single else analyses


def _checked(kind: Callable[..., OptionsT], options: Mapping[str, Any]) -> OptionsT:
    """A dataclass of options; a name that it does not have is an error."""
    known = [field.name for field in fields(kind)]  # pyright: ignore[reportArgumentType]
    for name in options:
        if name not in known:
            raise InputError(unknown_name("option of a corpus", name, known))
    return kind(**options)


def train(
    data: Any,
    setting: Home = None,
    *,
    embeddings: str | Path | None = None,
    out: str | Path | None = None,
    track: Track = silent,
    **options: Any,
) -> Any:
    """Train data in a setting, and record how it approaches what the theory predicts.

    Gives an ``lm.Run``; for a corpus or its store, a ``lemmata.corpus.CorpusRun``.

    Args:
        data: an instance, a list of them, the path of a file, which may hold ``options``, a
            corpus or the path of its store.
        setting: found from the instances if left out.
        embeddings: a second file, if the setting takes one.
        out: a folder in which runs are kept, and resumed from.
        track: see ``lm.Track``; shows progress.
        options: what the setting takes (``lm.mechanics.SETTING.options``).
    """
    if isinstance(data, str | Path) and is_store(Path(data)):
        data = Corpus(data)
    if isinstance(data, Corpus):
        if setting is not None or embeddings is not None or out is not None:
            raise InputError("training on a corpus takes no setting, no embeddings and no out")
        return train_corpus(data, _checked(CorpusTraining, options), track=track)
    instances, home, _ = _instances(data, setting, embeddings)
    options = {**_options_of(data), **options}
    home.check(options)
    store = None if out is None else Store(Path(out) / "runs")
    return home.train(instances, options, store=store, track=track)


def check(
    claims: Any = (),
    *,
    data: Any = None,
    embeddings: str | Path | None = None,
    seed: int = 0,
    scale: Scale = "quick",
    out: str | Path | None = None,
    track: Track = silent,
    **options: Any,
) -> Verdicts:
    """Check claims: by name, by paper, from a file, or as declared with ``lm.claim``.

    Args:
        claims: one or several of: the name of a claim or of a paper, ``file.py`` or
            ``file.py::name``, a claim, a function under ``@lm.claim``. Everything if left out.
        data: instances, or a file, that replace the default instances.
        embeddings: a second file for the data.
        seed: everything random depends on it alone.
        scale: ``quick``, or ``paper`` for the paper's own sizes.
        out: a folder in which runs are kept, and resumed from.
        options: fields of the training to change, such as ``steps`` and ``rate``.
    """
    judged = checker(
        data=data,
        embeddings=embeddings,
        seed=seed,
        scale=scale,
        out=out,
        track=track,
        options=options,
    )
    return Verdicts([judged(claim) for claim in _meant(claims)])


def checker(
    *,
    data: Any = None,
    embeddings: str | Path | None = None,
    seed: int = 0,
    scale: Scale = "quick",
    out: str | Path | None = None,
    track: Track = silent,
    options: Mapping[str, Any] | None = None,
) -> Callable[[Claim], Verdict]:
    """A function that checks claims, with one bench for all claims that share it.

    A file may say how its instance is trained; that counts where a claim leaves it open.
    """
    store = None if out is None else Store(Path(out) / "runs")
    in_file = _options_of(data)
    benches: dict[tuple[str, ...], Bench] = {}

    def judged(claim: Claim) -> Verdict:
        open_ = tuple(name for name in in_file if name in claim.experiment.free)
        key = (claim.paper if claim.setting is None else claim.setting.key, *open_)
        if key not in benches:
            instances = None
            if data is not None:
                instances, _, _ = _instances(data, setting_of(claim), embeddings)
            how = {name: in_file[name] for name in open_} | dict(options or {})
            benches[key] = Bench(seed, scale, store, track, instances, how)
        return with_ledger(check_claim(claim, benches[key]))

    return judged


def _options_of(data: Any) -> dict[str, Any]:
    """How a file says that its instance is trained; nothing for instances in memory."""
    return options_in(Path(data)) if isinstance(data, str | Path) else {}


def falsify(
    claims: Any = (),
    *,
    budget: float = 60.0,
    scope: Mapping[str, int] | None = None,
    seed: int = 0,
    watch: Watch = lambda line: None,
) -> Any:
    """Attack claims: look for the smallest instance within their hypotheses that breaks them.

    Args:
        claims: as for ``check``. One function or claim gives one ``Finding``, else ``Findings``.
        budget: seconds for all of them together.
        scope: go through all instances up to this size, such as ``{"K": 3, "T": 3, "n": 4}``,
            however long that takes.
        seed: everything random depends on it alone.
        watch: called with a line that says how far it has come.
    """
    if not isinstance(budget, Real) or not budget >= 0:
        raise InputError(f"budget must be a number of seconds that is not negative; got {budget!r}")
    found = Findings(attacks(_meant(claims), budget=budget, scope=scope, seed=seed, watch=watch))
    single = isinstance(claims, Claim) or (callable(claims) and not isinstance(claims, Paper))
    return found[0] if single and len(found) == 1 else found


def attacks(
    claims: Sequence[Claim],
    *,
    budget: float,
    scope: Mapping[str, int] | None = None,
    seed: int = 0,
    watch: Watch = lambda line: None,
) -> Iterator[Finding]:
    """Attack one claim after the other, with an equal share of the time that is left."""
    ends = time.monotonic() + budget
    for number, claim in enumerate(claims):
        share = max(ends - time.monotonic(), 0.0) / (len(claims) - number)
        finding = attack(
            claim,
            setting_of(claim),
            budget=share,
            scope=scope,
            seed=seed,
            watch=lambda line, claim=claim: watch(f"{claim.name}: {line}"),
        )
        yield finding
        if finding.interrupted:
            return


def setting_of(claim: Claim) -> AbstractSetting[Any]:
    """The setting that a claim's instances belong to."""
    return papers()[claim.paper].setting if claim.setting is None else claim.setting


def _meant(names: Any) -> list[Claim]:
    """The claims; a list that turned out empty does not mean all of them."""
    if isinstance(names, list) and not names:
        raise InputError("there is no claim: the list is empty; leave it out for all of them")
    return find_claims(names)


def find_claims(names: Any = ()) -> list[Claim]:
    """The claims that are meant; everything for nothing."""
    if isinstance(names, str | Path | Claim | Paper) or callable(names):
        wanted: list[Any] = [names]
    elif isinstance(names, Iterable):
        wanted = list(names)
    else:
        raise InputError(f"claims are names, files or functions under @lm.claim; got {names!r}")
    chosen: dict[str, Claim] = {}
    for name in wanted or list(papers()):
        chosen |= {claim.name: claim for claim in _claims(name)}
    return list(chosen.values())


def _claims(name: Any) -> Iterator[Claim] | Sequence[Claim]:
    if isinstance(name, Claim):
        return [name]
    if isinstance(name, Paper):
        return name.claims
    if callable(name):
        if not declared_by(name):
            raise InputError(f"{name!r} is no claim: put @lm.claim(...) above the function")
        return declared_by(name)
    text = str(name)
    if is_file(text):
        return claims_in(text)
    if text in papers():
        return papers()[text].claims
    paper = text.split("/")[0]
    if paper in papers():
        claims: Listed = papers()[paper].claims
        return [claims[text]]
    raise InputError(unknown_name("claim", text, [*papers(), "FILE.py"]))


def _instances(
    data: Any, setting: Home, embeddings: str | Path | None
) -> tuple[list[Any], AbstractSetting[Any], bool]:
    """The instances, their setting, and whether it was a single one."""
    if isinstance(data, str | Path):
        home = find_setting(setting or DEFAULT_SETTING)
        return read(data, home, embeddings), home, False
    if embeddings is not None:
        raise InputError("embeddings go with a file; an instance has its own")
    single = not isinstance(data, Sequence)
    instances = [data] if single else list(data)
    if not instances:
        raise InputError("there is no instance: the list is empty")
    return instances, _home(instances, setting), single


def _home(instances: Sequence[Any], setting: Home) -> AbstractSetting[Any]:
    if setting is not None:
        home = find_setting(setting)
        if not isinstance(instances[0], home.instance_type):
            found = type(instances[0]).__name__
            raise InputError(f"a {found} is no instance of the {home.key} setting")
        return home
    for home in settings().values():
        if home.instance_type is not object and isinstance(instances[0], home.instance_type):
            others = [x for x in instances if not isinstance(x, home.instance_type)]
            if others:
                what = f"{type(instances[0]).__name__} and {type(others[0]).__name__}"
                raise InputError(f"instances of two settings cannot be put together: {what}")
            return home
    raise InputError(
        f"cannot tell the setting of a {type(instances[0]).__name__}; say setting=..., one of "
        f"{', '.join(settings())}"
    )


def verbs_of(setting: AbstractSetting[Any]) -> tuple[Callable[..., Any], ...]:
    """read, draw, analyze, train and check, in one setting; check takes the paper's own names."""

    def check_here(claims: str | Sequence[str] = (), **options: Any) -> Verdicts:
        """Check claims of this paper by their names in it; all of them if left out."""
        names = [claims] if isinstance(claims, str) else list(claims)
        listed = papers()[setting.key].claims
        return check([listed[name] for name in names] if names else list(listed), **options)

    return (
        partial(read, setting=setting),
        partial(draw, setting),
        partial(analyze, setting=setting),
        partial(train, setting=setting),
        check_here,
    )
