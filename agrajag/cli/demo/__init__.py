"""`agrajag demo`: realistic errors in, verdicts out, and a check that nothing was lost between."""

from agrajag.cli.demo.command import demo

__all__ = ["demo"]
