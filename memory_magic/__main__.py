"""`python -m memory_magic` is the command line."""

from memory_magic.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
