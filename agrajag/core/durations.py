"""ISO 8601 durations in weeks, days, hours, minutes and seconds.

Years and months have no fixed length and are refused. Anything longer than a year is refused too, so that a
deadline can always be computed.
"""

import re
from datetime import timedelta

_ISO = re.compile(
    r"P(?:(?P<weeks>\d{1,6}(?:[.,]\d{1,9})?)W)?(?:(?P<days>\d{1,6}(?:[.,]\d{1,9})?)D)?"
    r"(?:T(?:(?P<hours>\d{1,6}(?:[.,]\d{1,9})?)H)?(?:(?P<minutes>\d{1,8}(?:[.,]\d{1,9})?)M)?"
    r"(?:(?P<seconds>\d{1,9}(?:[.,]\d{1,9})?)S)?)?",
    re.ASCII,
)
LONGEST = timedelta(days=366)


def parse_iso_duration(text: str) -> timedelta | None:
    """The span that `text` states, such as `PT1H30M` or `P1W`; None where it states none or one above a year."""
    found = _ISO.fullmatch(text)
    if found is None or text.endswith(("P", "T")):
        return None
    amounts = {
        unit: float(amount.replace(",", "."))
        for unit, amount in found.groupdict().items()
        if amount is not None
    }
    span = timedelta(**amounts)
    return span if span <= LONGEST else None


def span_words(span: timedelta) -> str:
    """The span for people, such as `1 h 30 min` or `24 h`; fractions of a second only where there is nothing else."""
    seconds = int(span.total_seconds())
    parts = ((seconds // 3600, "h"), (seconds // 60 % 60, "min"), (seconds % 60, "s"))
    return " ".join(f"{amount} {unit}" for amount, unit in parts if amount) or f"{span.total_seconds():g} s"
