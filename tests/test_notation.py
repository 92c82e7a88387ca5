"""Statements as people type them: what is recognised as a formula, and what it becomes."""

import json
import re
import shutil
import subprocess
import unicodedata
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from lemmata import papers
from lemmata._latex import latex_statement
from lemmata._mathml import TAGS, mathematics
from lemmata._notation import Formula, parts_of
from lemmata.claims import Status, Verdict
from lemmata.report import latex_table

CATALOGUE = json.loads((Path(papers.__file__).parent / "catalogue.json").read_text("utf-8"))
CLAIMS = [claim for paper in CATALOGUE["papers"] for claim in paper["claims"]]
STATEMENTS = {claim["name"]: claim["statement"] for claim in CLAIMS}

READ = {
    # letters and symbols
    "lambda' z_k": r"$\lambda^{\prime}z_{k}$",
    "‖W_ov*‖² = |V| − 1": r"$\|W_{\mathrm{ov}}^{*}\|^{2} = |V| - 1$",
    "||x||_inf >= 0": r"$\|x\|_{\infty} \ge 0$",
    "|N(S)||O| ≥ |S||N|": r"$|N(S)|\,|O| \ge |S|\,|N|$",
    "<e_i, e_y> >= 1": r"$\langle e_{i}, e_{y}\rangle \ge 1$",
    "x < y, z > w": r"$x < y$, $z > w$",
    "Z-bar (A-hat - A)": r"$\bar{Z}(\hat{A} - A)$",
    "x̄_iᵀ W̃ x": r"$\bar{x}_{i}^{\top}\tilde{W}x$",
    "W^mm ≠ 0, t ∉ R_i": r"$W^{\mathrm{mm}} \ne 0$, $t \notin R_{i}$",
    "Σ_{i ∈ I} s_it": r"$\sum_{i \in I}s_{it}$",
    "sum_h ||grad_Q_h l||^2": r"$\sum_{h}\|\nabla_{Q_{h}}l\|^{2}$",
    "sqrt(Tq) √2 √T_max": r"$\sqrt{Tq}\sqrt{2}\sqrt{T_{\mathrm{max}}}$",
    "(q/T)^(4 delta/(1-3 delta))": r"$(q/T)^{4\delta/(1 - 3\delta)}$",
    "B_k^(0), e^-R, 10⁻³⁰": r"$B_{k}^{(0)}$, $e^{-R}$, $10^{-30}$",
    "T2 >= T1": r"$T_{2} \ge T_{1}$",
    "O~(T^2 d / eta)": r"$\tilde{O}(T^{2}d/\eta)$",
    "log²t, log log(q/ε)": r"$\log^{2}t$, $\log\log(q/\varepsilon)$",
    "4dTq, 13N, n = 10,000": r"$4dTq$, $13N$, $n = 10{,}000$",
    "[I 0]": r"$[I\;0]$",
    "x >_q x'": r"$x >_{q} x^{\prime}$",
    # LaTeX of one's own
    r"$\|W\| \le \eta t$ for every $t$": r"$\|W\| \le \eta t$ for every $t$",
    # words
    "A step of the log loss takes a while.": "A step of the log loss takes a while.",
    "Phase I of Lemma E.8, as (17) and (IH1) say": "Phase I of Lemma E.8, as (17) and (IH1) say",
    "the paper's 2nd one-hot set-up, 4,000 steps": "the paper's 2nd one-hot set-up, 4,000 steps",
    "acyclic-0.4 has log_loss, and/or 3 % more": r"acyclic-0.4 has log\_loss, and/or 3 \% more",
    "theorem-e.6 holds for theorem-3": "theorem-e.6 holds for theorem-3",
    "it costs $5, or $6": r"it costs \$5, or \$6",
    "For {SVOP, VOP}: (two tokens or more)": r"For \{SVOP, VOP\}: (two tokens or more)",
    "naïve, déjà vu": "naïve, déjà vu",
    # both
    "A becomes a = 1, and I is A'y": "A becomes $a = 1$, and $I$ is $A^{\\prime}y$",
    "min π over them, 1 − corr falls": r"$\min\pi$ over them, $1 - \operatorname{corr}$ falls",
    "(IH2): d_e <= T d": r"(IH2): $d_{e} \le Td$",
    "": "",
}


@pytest.mark.parametrize("typed", READ)
def test_what_is_typed_becomes_latex(typed: str) -> None:
    assert latex_statement(typed) == READ[typed]


def symbols(text: str) -> Counter[str]:
    """Letters and digits, whatever their place; independent of how formulas are read."""
    return Counter(letter for letter in unicodedata.normalize("NFKD", text) if letter.isalnum())


def expected(statement: str) -> Counter[str]:
    """What a reader must see of a statement: names of letters as letters, signs not spelled out."""
    text = unicodedata.normalize("NFD", statement)
    text = re.sub(r"(?<![A-Za-z])sqrt(?=\()|-(?:hat|bar|tilde)\b|-(?:bar|hat)(?=_)", "", text)
    text = re.sub(r"(?<![A-Za-z])(?:grad(?=_| l)|sum(?=_))|(?<=_)inf\b|infinity|[Σᵀ]", "", text)
    text = re.sub(r"\^T(?![A-Za-z])", "", text)
    named = r"(?<![A-Za-z])(?:{})(?![A-Za-z])"
    letters = {"epsilon": "ε", "eps": "ε", "lambda": "λ"}
    letters |= {
        unicodedata.name(chr(code)).split()[-1].lower(): chr(code) for code in range(0x3B1, 0x3CA)
    }
    del letters["lamda"]
    letters |= {name.capitalize(): letter.upper() for name, letter in letters.items()}
    for name, letter in letters.items():
        text = re.sub(named.format(name), letter, text)
    return symbols(text.replace("φ", "ϕ").replace("ϵ", "ε"))


def test_every_statement_becomes_mathml() -> None:
    children = {"msub": 2, "msup": 2, "mover": 2, "msubsup": 3}
    for name, statement in STATEMENTS.items():
        root = ElementTree.fromstring(f"<p>{mathematics(statement).replace('<wbr>', '')}</p>")
        assert {node.tag for node in root.iter()} <= TAGS | {"p", "span"}, name
        assert all(len(node) == children.get(node.tag, len(node)) for node in root.iter()), name
        shown = "".join(root.itertext()).replace("φ", "ϕ")
        assert symbols(shown) == expected(statement), name


def test_no_formula_is_left_in_the_words() -> None:
    typed = re.compile(r"[_^‖√Σ∇⟨≤≥→∈αβγδεητλ]|\|\||<=|>=|\b(?:alpha|eta|delta|tau)\b")
    for name, statement in STATEMENTS.items():
        words = " ".join(part for part in parts_of(statement) if isinstance(part, str))
        found = typed.search(words.replace("(printed as ≥), so the last ≥", ""))
        assert found is None, name


HOSTILE = [
    "<script>alert(1)</script>",
    r"$\text{<img src=x onerror=alert(1)>}$",
    r"$\href{javascript:alert(1)}{x}$",
    r"$a & b < c$",
    "a <b onclick=alert(1)> c, d > e",
    "x_<script>",
]


@pytest.mark.parametrize("typed", HOSTILE)
def test_nothing_gets_out_of_a_formula(typed: str) -> None:
    html = mathematics(typed)
    root = ElementTree.fromstring(f"<p>{html.replace('<wbr>', '')}</p>")
    assert {node.tag for node in root.iter()} <= TAGS | {"p", "span"}
    assert not {name for node in root.iter() for name in node.attrib} & {"href", "onclick", "src"}


@pytest.mark.parametrize("typed", [r"$a_b_c$", r"$\left( x$", "$x^$", r"$\begin{pmatrix}1$"])
def test_latex_that_cannot_be_read_is_shown(typed: str) -> None:
    assert mathematics(f"see {typed}") == f"see <code>{typed.strip('$')}</code>"


@pytest.mark.parametrize("typed", ["log(" * 100, "(" * 1200, "log " * 999, "|" * 2001, "x_" * 999])
def test_no_text_is_too_strange(typed: str) -> None:
    mathematics(typed)
    latex_statement(typed)


def test_long_formulas_may_be_broken_into_lines() -> None:
    html = mathematics("‖W_kq(t)‖ ≥ tη/(2L‖W_kq*‖) − ‖W_kq(0)‖ + (a + b − c)")
    assert html.count("<wbr>") == 3
    assert "<wbr>" not in mathematics("a + b = c")


def test_a_formula_and_the_marks_around_it_stay_in_one_line() -> None:
    html = mathematics("as T -> infinity, ‖W_kq(t)‖ ≥ tη/(2L‖W_kq*‖) − ‖W_kq(0)‖ + (a + b), ($x$).")
    held = r'<span class="held">{}<math>(?:(?!</math>).)*</math>{}'
    assert re.match("as " + held.format("", ",</span> "), html)
    assert re.search("<wbr>" + held.format("", ",</span> "), html)  # breaks before its last piece
    assert re.search(held.format(r"\(", r"</span>\)\.</span>$"), html)
    assert "<mo>∞" not in html  # which would stand apart from the comma


def test_signs_and_sums_are_told_apart() -> None:
    html = mathematics("a − b ≤ −c")
    assert html.count('form="infix"') == 1
    assert html.count('form="prefix"') == 1


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex (texlive) is not there")
def test_the_table_of_all_claims_is_latex(tmp_path: Path) -> None:
    hostile = {
        f"paper/{i}_&%$#{{": text for i, text in enumerate([*READ, r"\input{/etc/passwd} ^~|"])
    }
    verdicts = [
        Verdict(name, Status.FAILS, "reason", statement, "where", "experiment")
        for name, statement in (STATEMENTS | hostile).items()
    ]
    packages = r"\usepackage{amsmath,array,booktabs,longtable}"
    body = rf"\begin{{document}}{latex_table(verdicts)}\end{{document}}"
    (tmp_path / "t.tex").write_text(rf"\documentclass{{article}}{packages}{body}", "utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    wide = [float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt", done.stdout)]
    assert max(wide, default=0) < 50  # one formula has no place to break


@pytest.mark.parametrize(
    ("typed", "latex"),
    [
        ("η = 1.208e-12", r"\eta = 1.208 \cdot 10^{-12}"),
        ("T = 8e+05", r"T = 8 \cdot 10^{5}"),
        ("x = 2e", "x = 2e"),
    ],
)
def test_numbers_as_computers_write_them(typed: str, latex: str) -> None:
    assert parts_of(typed) == [Formula(latex)]
