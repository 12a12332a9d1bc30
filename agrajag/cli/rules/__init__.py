"""`agrajag rules ...`: check rule files, list what is in force, explain one error, and try new rules on past ones."""

from agrajag.cli.rules.commands import app

__all__ = ["app"]
