"""The pieces of a rendered person that can be checked by numbers."""

import numpy as np
import pytest

from sdtps.training.people.body.turns import X, Y, about, aim, part_of
from sdtps.training.people.view.window import crop, look_from, spread
from sdtps.training.people.wear import meshes
from sdtps.training.synth.types import CANVAS_H, CANVAS_W


def test_turns_turn() -> None:
    np.testing.assert_allclose(about(Y, np.pi / 2) @ X, [0, 0, -1], atol=1e-12)
    start, end = np.array([1.0, 2, 3]), np.array([-2.0, 0.5, 1])
    turned = aim(start, end) @ start
    np.testing.assert_allclose(turned / np.linalg.norm(turned), end / np.linalg.norm(end), atol=1e-12)
    np.testing.assert_allclose(part_of(about(X, 0.8), 0.25), about(X, 0.2), atol=1e-12)


@pytest.mark.parametrize("shape", [meshes.box((2, 3, 4)), meshes.ball((2, 2, 2))], ids=["box", "ball"])
def test_solids_are_as_large_as_asked_and_face_outwards(shape: meshes.Shape) -> None:
    points, faces = shape
    mesh = meshes.solid(shape, surface=None)  # type: ignore[arg-type]
    outwards = (mesh.normals * points).sum(1)
    assert (outwards > 0).all() or (outwards < 0).all()
    assert faces.max() == len(points) - 1
    assert np.ptp(points, axis=0) == pytest.approx((2, 3, 4) if np.ptp(points[:, 2]) > 3 else (2, 2, 2), rel=0.02)


def test_a_crop_shows_what_it_is_told_where_it_is_told() -> None:
    camera, eye = look_from(30, 120, 8.5)
    point = np.array([[1.0, 12.0, -2.0]])
    x, _, y, _ = spread(point, camera)
    window = crop(camera, eye, (x, y), (900.0, 800.0), (40.0, 70.0))
    clip = window.projection @ window.camera @ np.append(point[0], 1)
    column, row = (clip[0] / clip[3] + 1) / 2 * CANVAS_W, (1 - clip[1] / clip[3]) / 2 * CANVAS_H
    assert (column, row) == pytest.approx((40, 70))


@pytest.mark.usefixtures("renderer")
class TestBodies:
    def test_builds_differ_as_they_should(self) -> None:
        from sdtps.training.people.body.shape import Build, shape

        slim = Build(True, 0.1, 0.0, 0.0, -0.6, 0.0, (0.2, 0.6, 0.2))
        heavy = Build(True, 0.1, 0.0, 0.0, 0.8, 0.0, (0.2, 0.6, 0.2))
        tall = Build(True, 0.1, 0.0, 0.0, -0.6, 0.8, (0.2, 0.6, 0.2))
        deep = [float(np.ptp(shape(b)[:, 2])) for b in (slim, heavy)]
        high = [float(np.ptp(shape(b)[:13380, 1])) for b in (slim, tall)]
        assert deep[1] > deep[0]
        assert high[1] > high[0] + 0.3
        assert 14 < high[0] < 20

    def test_bones_carry_their_vertices(self) -> None:
        from sdtps.training.people.body.assets import BONE, bodies
        from sdtps.training.people.body.skeleton import pose, skin

        data = bodies()
        still = skin(data.rest, data.weights, pose(data.rest, {}))
        np.testing.assert_allclose(still, data.rest, atol=1e-3)
        bent = skin(data.rest, data.weights, pose(data.rest, {"lowerarm01.L": about(X, 0.7)}))
        moved = np.linalg.norm(bent - data.rest, axis=1) > 0.05
        assert moved[data.weights[:, BONE["wrist.L"]] > 0.9].mean() > 0.9
        assert not moved[data.weights[:, BONE["wrist.R"]] > 0.5].any()

    def test_clothes_stay_the_same_in_every_view_and_on_another_body(self) -> None:
        from dataclasses import replace

        from sdtps.training.people.wear.wardrobe import person_of

        one = person_of(3, 9)
        other = person_of(3, 9, replace(one.build, weight=-one.build.weight))
        assert one.looks == other.looks
        assert not np.allclose(one.body, other.body)
        assert person_of(4, 9).looks != one.looks
