"""`python -m gen_kernels` is the same as the `gen-kernels` command."""

import sys

from .codegen.cli import main

sys.exit(main())
