"""A worker that decodes pictures: `sdtps.images.confined` starts it. It never imports torch."""

from typing import Any

from PIL import Image

from sdtps.images.read import read_picture
from sdtps.support.confinement import serve
from sdtps.support.errors import InputError
from sdtps.support.messages import as_note


def picture(_head: dict[str, Any], content: bytes) -> tuple[dict[str, Any], bytes]:
    """The bytes of a file to pixels and notes, or to a sentence."""
    try:
        found = read_picture(content)
    except InputError as error:
        return {"error": as_note(error.message)}, b""
    return {"size": found.size, "notes": [as_note(n) for n in found.notes]}, found.pixels.tobytes()


def main() -> None:
    """Know all formats before rights are taken away, then serve."""
    Image.init()
    serve({"picture": picture})
