"""`python -m bench.cli`, for environments without the `vera` command."""

import sys

from bench.cli.main import main

sys.exit(main())
