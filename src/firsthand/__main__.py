"""``python -m firsthand``: the same as the installed ``firsthand``."""

from __future__ import annotations

import sys

from firsthand.cli.main import main

sys.exit(main())
