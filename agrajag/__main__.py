"""`python -m agrajag`: the command line, for where the `agrajag` program is not on the path."""

from agrajag.cli import main

if __name__ == "__main__":
    main()
