"""`agrajag rules ...`: check rule files, list what is in force, explain one error, try new rules on past ones, and
score rules on labelled ones.
"""

from agrajag.cli.rules import scoring as scoring
from agrajag.cli.rules.commands import app

__all__ = ["app"]
