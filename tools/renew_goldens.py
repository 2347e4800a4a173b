"""Write what the generator says and makes today as what the tests expect. Read the difference!

    python tools/renew_goldens.py

renews tests/golden/generate, tests/golden/errors, tests/golden/diagnostics and generated_example.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.golden import test_diagnostics, test_errors, test_generate, test_generated_example


def main() -> None:
    """Renew every folder."""
    test_diagnostics.renew()
    test_errors.renew()
    test_generate.renew()
    test_generated_example.renew()


if __name__ == "__main__":
    main()
