"""Everything a person may drop on the page: the right picture, or one plain sentence."""

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from sdtps.images.read import MAX_BYTES, Fit, prepare, read_picture, read_triplet, read_wide
from sdtps.support.errors import InputError

RAMP = np.add.outer(np.arange(256), np.arange(128)).astype(np.uint8)
COLOUR = np.dstack([RAMP, 255 - RAMP, RAMP // 2])


def encoded(image: Image.Image, kind: str, **options) -> bytes:
    stream = io.BytesIO()
    image.save(stream, kind, **options)
    return stream.getvalue()


def png_of_zeros(width: int, height: int) -> bytes:
    """A tiny file that unpacks to width x height pixels, written by hand."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = zlib.compress(b"\0" * ((1 + (width + 7) // 8) * height), 9)
    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def codes(picture) -> list[str]:
    return [n.code for n in picture.notes]


def assert_refused(source, code: str) -> InputError:
    with pytest.raises(InputError) as caught:
        read_picture(source)
    message = caught.value.message
    assert message.code == code
    assert message.endswith(".")
    assert "\n" not in message
    assert "Traceback" not in message
    return caught.value


@pytest.mark.parametrize("kind", ["PNG", "TIFF", "BMP", "WEBP"])
def test_lossless_formats_give_the_same_pixels(kind):
    options = {"lossless": True} if kind == "WEBP" else {}
    picture = read_picture(encoded(Image.fromarray(COLOUR), kind, **options))
    np.testing.assert_array_equal(picture.pixels, COLOUR)
    assert picture.notes == ()


def test_paths_bytes_images_and_arrays_agree(tmp_path):
    path = tmp_path / "a.png"
    Image.fromarray(COLOUR).save(path)
    for source in (path, str(path), path.read_bytes(), Image.open(path), COLOUR):
        np.testing.assert_array_equal(read_picture(source).pixels, COLOUR)


@pytest.mark.parametrize("mode", ["L", "1", "YCbCr", "CMYK", "HSV", "LAB"])
def test_other_colour_modes_become_rgb(mode):
    picture = read_picture(Image.fromarray(COLOUR).convert("RGB").convert(mode) if mode != "LAB" else
                           Image.fromarray(COLOUR).convert("L"))  # fmt: skip
    assert picture.pixels.shape == (256, 128, 3)
    assert picture.pixels.dtype == np.uint8


def test_cmyk_jpeg_keeps_its_colours():
    picture = read_picture(encoded(Image.fromarray(COLOUR).convert("CMYK"), "JPEG", quality=95))
    assert np.abs(picture.pixels.astype(int) - COLOUR).mean() < 6


def test_palette_images_show_colours_not_indices():
    picture = read_picture(encoded(Image.fromarray(COLOUR).quantize(128), "PNG"))
    assert np.abs(picture.pixels.astype(int) - COLOUR).mean() < 12


@pytest.mark.parametrize("mode", ["RGBA", "LA"])
def test_transparent_areas_become_mid_grey(mode):
    alpha = np.where(np.arange(128) < 64, 255, 0).astype(np.uint8)[None].repeat(256, 0)
    planes = (RAMP, alpha) if mode == "LA" else (*COLOUR.transpose(2, 0, 1), alpha)
    picture = read_picture(encoded(Image.fromarray(np.dstack(planes)), "PNG"))
    assert codes(picture) == ["input.alpha"]
    assert (picture.pixels[:, 64:] == 128).all()
    np.testing.assert_array_equal(picture.pixels[:, :64, 0], RAMP[:, :64])


def test_opaque_alpha_changes_nothing():
    picture = read_picture(np.dstack([COLOUR, np.full_like(RAMP, 255)]))
    np.testing.assert_array_equal(picture.pixels, COLOUR)
    assert picture.notes == ()


def test_exif_rotation_is_applied_and_said():
    exif = Image.Exif()
    exif[0x0112] = 6
    picture = read_picture(encoded(Image.fromarray(COLOUR), "JPEG", exif=exif, quality=95))
    assert picture.size == (128, 256)
    assert codes(picture) == ["input.rotated"]


def test_exif_half_turn_is_said_too():
    exif = Image.Exif()
    exif[0x0112] = 3
    picture = read_picture(encoded(Image.fromarray(COLOUR), "PNG", exif=exif))
    np.testing.assert_array_equal(picture.pixels, COLOUR[::-1, ::-1])
    assert codes(picture) == ["input.rotated"]


@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
def test_sixteen_bit_thermal_is_scaled_by_percentiles_and_said(kind):
    counts = (20000 + 60.0 * np.add.outer(np.arange(256), np.arange(128))).astype(np.uint16)
    picture = read_picture(encoded(Image.fromarray(counts), kind))
    assert codes(picture) == ["input.scaled"]
    assert "20" in picture.notes[0]
    assert (picture.pixels.min(), picture.pixels.max()) == (0, 255)
    assert len(np.unique(picture.pixels)) > 200


def test_float_celsius_is_scaled():
    celsius = np.linspace(15, 38, 256 * 128, dtype=np.float32).reshape(256, 128)
    picture = read_picture(encoded(Image.fromarray(celsius), "TIFF"))
    assert codes(picture) == ["input.scaled"]
    assert picture.pixels[0, 0, 0] == 0
    assert picture.pixels[-1, -1, 0] == 255


def test_sixteen_bit_all_equal_is_grey_not_a_crash():
    picture = read_picture(np.full((64, 32), 30000, np.uint16))
    assert (picture.pixels == 128).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_and_infinity_are_refused(bad):
    values = np.ones((64, 32), np.float32)
    values[3, 4] = bad
    assert_refused(values, "input.nan")
    assert_refused(encoded(Image.fromarray(values), "TIFF"), "input.nan")


def test_float_colour_in_the_unit_range_is_taken_as_it_is():
    picture = read_picture(COLOUR.astype(np.float64) / 255)
    np.testing.assert_array_equal(picture.pixels, COLOUR)
    assert picture.notes == ()


@pytest.mark.parametrize(
    ("array", "code"),
    [
        (np.zeros((3, 3, 3, 3)), "input.shape"),
        (np.zeros((0, 10)), "input.shape"),
        (np.zeros((10, 10, 2)), "input.shape"),
        (np.zeros(7), "input.shape"),
        (np.full((10, 10), "x"), "input.dtype"),
        (np.zeros((10, 10), complex), "input.dtype"),
        (np.zeros((10, 1), np.uint8), "input.tiny"),
    ],
)
def test_arrays_that_are_not_images(array, code):
    assert_refused(array, code)


def test_not_an_image():
    assert_refused(b"hello, world", "input.not_image")


def test_empty_file(tmp_path):
    (tmp_path / "empty.png").touch()
    assert_refused(tmp_path / "empty.png", "input.empty")


def test_svg_and_gif_have_their_own_sentence():
    assert_refused(b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script/></svg>', "input.svg")
    assert_refused(encoded(Image.fromarray(COLOUR), "GIF"), "input.gif")


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "WEBP", "BMP"])
def test_truncated(kind):
    noise = np.random.default_rng(0).integers(0, 255, (256, 128, 3), np.uint8)
    content = encoded(Image.fromarray(noise), kind)
    with pytest.raises(InputError) as caught:
        read_picture(content[: len(content) // 2])
    assert caught.value.message.code in ("input.damaged", "input.not_image")


@pytest.mark.parametrize("kind", ["PNG", "TIFF", "WEBP"])
def test_several_frames(kind):
    frames = [Image.fromarray(np.full((64, 32, 3), c, np.uint8)) for c in (40, 120, 220)]
    content = encoded(frames[0], kind, save_all=True, append_images=frames[1:])
    assert "several frames" in assert_refused(content, "input.animated").message


@pytest.mark.parametrize("side", [7000, 10_000, 20_000])
def test_decompression_bombs_are_refused_before_decoding(side):
    content = png_of_zeros(side, side)
    assert len(content) < 100_000
    assert_refused(content, "input.pixels")


def test_over_twenty_megabytes(tmp_path):
    path = tmp_path / "big.png"
    with path.open("wb") as stream:
        stream.truncate(MAX_BYTES + 1)
    assert_refused(path, "input.too_big")


def test_a_missing_file_is_named_without_its_folder(tmp_path):
    assert str(tmp_path) not in assert_refused(tmp_path / "gone.png", "input.not_found").message
    assert_refused(tmp_path, "input.not_found")


def test_one_pixel_is_refused_and_a_long_strip_is_not():
    assert_refused(np.zeros((1, 1, 3), np.uint8), "input.tiny")
    picture = read_picture(np.zeros((20_000, 10, 3), np.uint8))
    assert max(picture.size) == 2048
    assert codes(picture) == ["input.reduced"]


def test_triplet_names_the_modality_that_failed():
    with pytest.raises(InputError) as caught:
        read_triplet(COLOUR, b"nonsense", COLOUR)
    assert caught.value.modality == "nir"


def test_at_least_one_image():
    with pytest.raises(InputError, match="give at least one"):
        read_triplet(None, None, None)


def test_wide_image_is_cut_into_thirds(tmp_path):
    parts = [np.full((128, 256, 3), v, np.uint8) for v in (10, 120, 240)]
    triplet = read_wide(np.concatenate(parts, 1))
    for part, picture in zip(parts, triplet.pictures.values(), strict=True):
        np.testing.assert_array_equal(picture.pixels, part)


def test_wide_image_with_a_rest_is_said():
    triplet = read_wide(np.zeros((100, 302, 3), np.uint8))
    assert triplet.pictures["tir"].size == (100, 100)
    assert any(n.code == "input.thirds" for n in triplet.pictures["rgb"].notes)


def test_a_single_portrait_is_not_three():
    with pytest.raises(InputError, match="not three side by side"):
        read_wide(COLOUR)


def test_notes_of_a_mixed_triplet():
    triplet = read_triplet(COLOUR, COLOUR[:128], None)
    assert [n.code for n in triplet.notes((256, 128))] == ["input.sizes", "input.aspect.stretch", "input.missing"]


def test_letterbox_keeps_proportions_and_pads_with_grey():
    square = np.full((100, 100, 3), 200, np.uint8)
    fitted = read_triplet(square, None, None, fit="letterbox").fitted((256, 128))["rgb"]
    assert fitted.shape == (256, 128, 3)
    assert (fitted[64:192] == 200).all()
    assert (fitted[:64] == 128).all()
    stretched = read_triplet(square, None, None, fit=Fit.STRETCH).fitted((256, 128))["rgb"]
    assert (stretched == 200).all()


def test_tensor_is_centred_and_a_missing_modality_is_zeros():
    half = (0.5, 0.5, 0.5)
    tensor = prepare(read_triplet(COLOUR, None, COLOUR), (256, 128)).tensor(half, half)
    assert tensor.shape == (3, 3, 256, 128)
    np.testing.assert_allclose(tensor[0].numpy().transpose(1, 2, 0), COLOUR / 127.5 - 1, atol=1e-6)
    assert np.count_nonzero(tensor[1]) == 0


def test_hash_follows_content_and_position():
    a = prepare(read_triplet(COLOUR, RAMP, None), (256, 128)).sha256
    assert a == prepare(read_triplet(COLOUR.copy(), RAMP, None), (256, 128)).sha256
    assert a != prepare(read_triplet(RAMP, COLOUR, None), (256, 128)).sha256
    assert a != prepare(read_triplet(COLOUR, None, RAMP), (256, 128)).sha256


def test_resize_is_pillow_s_bilinear():
    fitted = read_picture(COLOUR).fitted((100, 60))
    want = np.asarray(Image.fromarray(COLOUR).resize((60, 100), Image.Resampling.BILINEAR))
    np.testing.assert_array_equal(fitted, want)


def test_icc_profiles_and_progressive_jpeg_are_accepted():
    picture = read_picture(encoded(Image.fromarray(COLOUR), "JPEG", progressive=True, icc_profile=b"x" * 200))
    assert picture.size == (256, 128)
