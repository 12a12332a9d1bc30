"""The command line. Importing it is light: what a command needs is imported when that command runs."""

from agrajag.cli.app import main

__all__ = ["main"]
