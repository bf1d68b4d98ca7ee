"""`python -m sdtps`."""

from sdtps.cli import main

raise SystemExit(main())
