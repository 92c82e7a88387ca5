"""How symbols are typed, and what they are called in LaTeX."""


def _pairs(words: str) -> dict[str, str]:
    """A symbol, its name, a symbol, its name, ..."""
    every = words.split()
    return dict(zip(every[::2], every[1::2], strict=True))


GREEK = _pairs(
    r"α \alpha β \beta γ \gamma δ \delta ε \varepsilon ζ \zeta η \eta θ \theta ι \iota κ \kappa "
    r"λ \lambda μ \mu ν \nu ξ \xi π \pi ρ \rho σ \sigma τ \tau υ \upsilon φ \varphi χ \chi ψ \psi "
    r"ω \omega Γ \Gamma Δ \Delta Θ \Theta Λ \Lambda Ξ \Xi Π \Pi Φ \Phi Ψ \Psi Ω \Omega "
    r"ϕ \phi ℓ \ell Σ \sum"
)
"""Letters; a capital sigma is a sum."""

NAMES = {command[1:]: command for command in GREEK.values() if command != r"\sum"} | _pairs(
    r"epsilon \varepsilon eps \varepsilon phi \varphi Sigma \Sigma grad \nabla infinity \infty"
)

BRACKETED = frozenset({"softmax", "tr", "rank", "corr", "mean", "risk"})
"""Functions that are words unless a bracket follows."""

FUNCTIONS = {name: rf"\operatorname{{{name}}}" for name in ("diag", *BRACKETED)} | _pairs(
    r"log \log ln \ln exp \exp cos \cos arctan \arctan min \min max \max inf \inf sup \sup lim \lim"
)

OPERATORS = _pairs(
    r"≤ \le ≥ \ge ≠ \ne → \to ⇒ \Rightarrow ≍ \asymp ≈ \approx ∈ \in ∉ \notin · \cdot × \times "
    r"⊗ \otimes <= \le >= \ge -> \to <- \leftarrow >> \gg != \ne ~ \sim * \cdot "
    r"− - - - < < > > = = + + / /"
)

ATOMS = _pairs(r"∇ \nabla ∞ \infty ⊥ \perp ∥ \parallel ∂ \partial … \dots ... \dots ‖ \| || \| | |")

PAIRS = {
    "(": ("(", ")", ")"),
    "[": ("[", "]", "]"),
    "{": (r"\{", "}", r"\}"),
    "⟨": (r"\langle ", "⟩", r"\rangle "),
    "⌈": (r"\lceil ", "⌉", r"\rceil "),
}
"""An opening bracket in LaTeX, the closing one as it is typed and in LaTeX."""

ACCENTS = {"\u0302": "hat", "\u0303": "tilde", "\u0304": "bar", "\u0307": "dot", "~": "tilde"}

RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁱⁿ", "0123456789+-()in", strict=True)) | {"ᵀ": r"\top "}
LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋", "0123456789+-", strict=True))

LABELS = frozenset({"ov", "kq", "mm", "up", "dn"})
"""Two letters that name something; others are two indices."""
