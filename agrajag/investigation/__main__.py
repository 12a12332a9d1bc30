"""`python -m agrajag.investigation`: see `agrajag.cli.investigation`."""

from agrajag.cli.investigation import run

if __name__ == "__main__":
    run()
