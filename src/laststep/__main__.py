"""What does `python -m laststep` do?"""

from laststep.cli.main import main

if __name__ == "__main__":
    main()
