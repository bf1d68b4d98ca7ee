"""`python -m sdtps`."""

from sdtps.cli.main import main

raise SystemExit(main())
