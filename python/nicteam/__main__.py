"""What the command ``nicteam sweep`` becomes."""

import sys

from .sweeping import main

sys.exit(main())
