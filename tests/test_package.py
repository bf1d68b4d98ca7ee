import subprocess
import sys


def test_importing_the_package_loads_neither_gradio_nor_matplotlib():
    code = "import sys, sdtps; print([m for m in ('gradio', 'matplotlib') if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_every_public_name_is_there():
    import sdtps

    assert all(hasattr(sdtps, name) for name in sdtps.__all__)
