"""How many examples the properties of this folder draw: few each time, and as many as one likes by hand.

`ANNOTATION_EXAMPLES=100000 pytest tests/annotations -k "written or answer" --hypothesis-seed=1`
"""

from __future__ import annotations

import os

from hypothesis import settings

BUDGET = settings(max_examples=int(os.environ.get("ANNOTATION_EXAMPLES", "150")), deadline=None)
