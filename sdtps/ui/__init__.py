"""The web page: everything that knows Gradio, and the scripts and styles it serves."""

import os
import tempfile
from pathlib import Path

LOCAL_HOSTS = "localhost,127.0.0.1,::1"

# Gradio reads these when it is imported, so they are set before any module of this package can import it:
# no telemetry, local addresses past any proxy, and temporary files in a folder of our own.
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
for _name in ("NO_PROXY", "no_proxy"):
    os.environ[_name] = ",".join(filter(None, [os.environ.get(_name), LOCAL_HOSTS]))
# A folder per account: one that another account made first could not be written to.
_account = os.getuid() if hasattr(os, "getuid") else "user"
os.environ.setdefault("GRADIO_TEMP_DIR", str(Path(tempfile.gettempdir()) / f"sdtps-lens-{_account}"))
