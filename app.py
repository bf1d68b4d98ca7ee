"""Start the page: `python app.py`. Options can be given by environment, too: `SDTPS_PORT=8000 python app.py`."""

from sdtps.__main__ import page

if __name__ == "__main__":
    raise SystemExit(page())
