"""From a session to a server: the Gradio page, the HTTP API, limits, headers, accounts, logs."""

import os
import tempfile
from pathlib import Path

LOCAL_HOSTS = "localhost,127.0.0.1,::1"

# Gradio reads these when it is imported, so they are set before any module of this package can import it:
# no telemetry, local addresses past any proxy, and temporary files in a folder of our own.
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
for _name in ("NO_PROXY", "no_proxy"):
    os.environ[_name] = ",".join(filter(None, [os.environ.get(_name), LOCAL_HOSTS]))
# The folder is ours alone, because what is old in it gets deleted; and each account has its own, because one that
# another account made first could not be written to.
_own = f"sdtps-lens-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
_temporary = Path(os.environ.get("GRADIO_TEMP_DIR") or tempfile.gettempdir())
os.environ["GRADIO_TEMP_DIR"] = str(_temporary if _temporary.name == _own else _temporary / _own)
