"""Software rasteriser: OpenGL on EGL without a display, which Mesa's llvmpipe runs on any machine."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from sdtps.training.people.view.lighting import Lighting
from sdtps.training.people.view.surface import Mesh
from sdtps.training.people.view.window import Window
from sdtps.training.synth.types import CANVAS_H, CANVAS_W, FloatArray

HOW_TO_GET = (
    "Rendering people needs OpenGL through EGL, which this machine lacks: install Mesa's software driver, "
    "on Debian and Ubuntu with apt-get install libegl1 libgl1-mesa-dri."
)
_SHADOW_SIZE = 1024
_LAYOUT = "3f 3f 3f 2f 4f", ("in_point", "in_normal", "in_rest", "in_fit", "in_paint")


@dataclass(frozen=True)
class Seen:
    """What the renderer delivers, all float32 on the canvas, (H, W) each but `radiance`, which is (4, H, W)."""

    radiance: FloatArray
    heat: FloatArray
    person: FloatArray
    others: FloatArray
    scene: FloatArray


def _source(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


@cache
def open_context() -> Any:
    """A context without a window; one clear sentence when there can be none."""
    # One thread per process: many processes render at once.
    os.environ.setdefault("LP_NUM_THREADS", "1")
    try:
        moderngl: Any = import_module("moderngl")
    except ModuleNotFoundError as error:
        raise RuntimeError("Rendering people needs the package 'moderngl': pip install '.[synth]'.") from error
    try:
        return moderngl.create_standalone_context(backend="egl")
    except Exception as error:
        raise RuntimeError(HOW_TO_GET) from error


class Raster:
    """Programs and buffers for pictures of one size.

    Args:
        scale: pixels of the result per pixel of the canvas.
        fine: samples per pixel and side.
    """

    def __init__(self, scale: int, fine: int) -> None:
        self.scale, self.fine = scale, fine
        self.gl = gl = open_context()
        self.size = CANVAS_W * scale * fine, CANVAS_H * scale * fine
        self._surface = gl.program(_source("surface.vert"), _source("surface.frag"))
        self._shadow = gl.program(_source("shadow.vert"), "#version 330\nvoid main() {}")
        self._light = gl.program(_source("screen.vert"), _source("light.frag"))
        self._buffer = [gl.texture(self.size, 4, dtype="f2" if i != 1 else "f4") for i in range(3)]
        for texture in self._buffer:
            texture.filter = gl.NEAREST, gl.NEAREST
            texture.repeat_x = texture.repeat_y = False
        self._geometry = gl.framebuffer(self._buffer, gl.depth_renderbuffer(self.size))
        self._shadow_map = gl.depth_texture((_SHADOW_SIZE, _SHADOW_SIZE))
        self._shadow_map.compare_func = ""
        self._shadow_buffer = gl.framebuffer([], self._shadow_map)
        self._out = [gl.texture(self.size, 4, dtype="f2") for _ in range(2)]
        self._lit = gl.framebuffer(self._out)
        corners = gl.buffer(np.array([-1, -1, 3, -1, -1, 3], np.float32).tobytes())
        self._screen = gl.vertex_array(self._light, [(corners, "2f", "in_corner")])
        self._photos: dict[str, Any] = {}
        self._no_photo = gl.texture((1, 1), 3, b"\x80\x80\x80")

    def _photo(self, path: Path | None) -> Any:
        if path is None:
            return self._no_photo
        if path.name not in self._photos:
            from PIL import Image

            with Image.open(path) as image:
                texture = self.gl.texture(image.size, 3, image.convert("RGB").tobytes())
            texture.build_mipmaps()
            texture.filter = self.gl.LINEAR_MIPMAP_LINEAR, self.gl.LINEAR
            self._photos[path.name] = texture
        return self._photos[path.name]

    def _upload(self, mesh: Mesh) -> tuple[Any, Any, list[Any]]:
        gl = self.gl
        points = gl.buffer(mesh.vertex_data())
        faces = gl.buffer(mesh.faces.astype(np.int32).tobytes())
        drawn = gl.vertex_array(self._surface, [(points, _LAYOUT[0], *_LAYOUT[1])], faces)
        cast = gl.vertex_array(self._shadow, [(points, "3f 48x", "in_point")], faces) if mesh.shadow else None
        return drawn, cast, [points, faces]

    def render(self, meshes: Sequence[Mesh], window: Window, lighting: Lighting) -> Seen:
        """Draw, light and average down to the canvas."""
        gl = self.gl
        loaded = [self._upload(mesh) for mesh in meshes]
        gl.enable(gl.DEPTH_TEST)
        gl.disable(gl.CULL_FACE)
        self._shadow_buffer.use()
        gl.viewport = (0, 0, _SHADOW_SIZE, _SHADOW_SIZE)
        self._shadow_buffer.clear(depth=1.0)
        sun = lighting.sun_matrix()
        _set(self._shadow, sun=sun)
        for _, cast, _ in loaded:
            if cast is not None:
                cast.render()
        self._geometry.use()
        gl.viewport = (0, 0, *self.size)
        self._geometry.clear(0, 0, 0, 0, depth=1.0)
        _set(self._surface, camera=window.camera, window=window.projection, eye=window.eye)
        for mesh, (drawn, _, _) in zip(meshes, loaded, strict=True):
            _set(self._surface, owner=int(mesh.owner), **vars(mesh.surface))
            drawn.render()
        self._lit.use()
        gl.disable(gl.DEPTH_TEST)
        textures = [*self._buffer, self._shadow_map, self._photo(lighting.photo)]
        names = ("reflectance_map", "shape_map", "extra_map", "shadow_map", "photo_map")
        for place, (name, texture) in enumerate(zip(names, textures, strict=True)):
            texture.use(place)
            _set(self._light, **{name: place})
        unproject = np.linalg.inv(window.projection @ window.camera)
        _set(
            self._light, camera=window.camera, window=window.projection, eye=window.eye, unproject=unproject, sun=sun,
            samples=10, **lighting.uniforms(),
        )  # fmt: skip
        self._screen.render()
        pictures = [self._read(texture) for texture in self._out]
        for drawn, cast, buffers in loaded:
            for thing in (drawn, cast, *buffers):
                if thing is not None:
                    thing.release()
        truth = pictures[1]
        return Seen(pictures[0], *truth)

    def _read(self, texture: Any) -> FloatArray:
        """(4, H, W) float32, top row first, averaged over the samples of each pixel."""
        width, height = CANVAS_W * self.scale, CANVAS_H * self.scale
        raw = np.frombuffer(texture.read(), np.float16).reshape(height, self.fine, width, self.fine, 4)
        # A degenerate triangle has no normal and lights up as nothing that is a number.
        mean = np.nan_to_num(raw.astype(np.float32), posinf=0, neginf=0).mean((1, 3))[::-1]
        return np.ascontiguousarray(mean.transpose(2, 0, 1))


def _set(program: Any, **values: Any) -> None:
    for name, value in values.items():
        if name not in program:
            continue
        if isinstance(value, np.ndarray) and value.ndim == 2:
            program[name].write(np.ascontiguousarray(value.T, np.float32).tobytes())
        elif isinstance(value, np.ndarray | tuple):
            program[name].value = tuple(float(x) for x in value)
        else:
            program[name].value = int(value) if isinstance(value, int) else float(value)


@cache
def raster(scale: int = 1, fine: int = 2) -> Raster:
    """The rasteriser of this process for one size."""
    return Raster(scale, fine)
