"""Start the page: `python app.py`. Options can be given by environment, too: `SDTPS_PORT=8000 python app.py`."""

from sdtps.cli.page import main

if __name__ == "__main__":
    main()
