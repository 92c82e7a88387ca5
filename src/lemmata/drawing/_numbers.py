"""Numbers for a person."""

import math

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float | int | None, digits: int = 4) -> str:
    """A number for a person: powers of ten as such, whole numbers below a million in full.

    Examples:
        >>> number(0.0370841), number(1.2634e10), number(-444178), number(math.inf), number(None)
        ('0.03708', '1.263\\xa0×\\xa010¹⁰', '−444178', '∞', '–')
    """
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    value += 0.0  # no minus sign before zero
    whole = abs(value) < 1e6 and float(value).is_integer()
    text = f"{value:.0f}" if whole else f"{value:.{digits}g}"
    mantissa, _, exponent = text.partition("e")
    if exponent:
        power = str(int(exponent)).translate(_SUPERSCRIPTS)
        text = f"10{power}" if mantissa == "1" else f"{mantissa}\u00a0×\u00a010{power}"
    return text.replace("-", "−")


def percent(share: float | None) -> str:
    """A share for a person.

    Examples:
        >>> percent(0.5), percent(1 / 3), percent(1.0)
        ('50\\xa0%', '33.33\\xa0%', '100\\xa0%')
    """
    return "–" if share is None else f"{number(100 * share)}\u00a0%"
