"""What one generated triplet promises."""

import dataclasses

import numpy as np
import pytest

from sdtps.training.synth import HEIGHT, TAGS, WIDTH, SynthSample, identity_of, sample


def as_bytes(item: SynthSample) -> bytes:
    arrays = (item.rgb, item.nir, item.tir, item.person, item.others)
    return b"".join(array.tobytes() for array in arrays)


@pytest.fixture(scope="module")
def crowd() -> list[SynthSample]:
    return [sample(pid, view, seed=11) for pid in range(30) for view in range(4)]


def test_shapes_and_types(crowd: list[SynthSample]) -> None:
    for item in crowd:
        for picture in (item.rgb, item.nir, item.tir):
            assert picture.shape == (HEIGHT, WIDTH, 3) == (256, 128, 3)
            assert picture.dtype == np.uint8
        for mask in (item.person, item.others):
            assert mask.shape == (HEIGHT, WIDTH)
            assert mask.dtype == np.bool_
        assert item.cam in (1, 2, 3, 4)
        assert item.tags <= TAGS
        assert ("day" in item.tags) != ("night" in item.tags)


def test_near_infrared_is_grey(crowd: list[SynthSample]) -> None:
    for item in crowd:
        assert (item.nir[..., 0] == item.nir[..., 1]).all()
        assert (item.nir[..., 0] == item.nir[..., 2]).all()


def test_record_is_frozen(crowd: list[SynthSample]) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        crowd[0].pid = 3  # type: ignore[misc]


def test_same_arguments_give_same_bytes_in_any_order() -> None:
    keys = [(3, 1), (0, 0), (3, 2)]
    forwards = {key: as_bytes(sample(*key, seed=5)) for key in keys}
    backwards = {key: as_bytes(sample(*key, seed=5)) for key in reversed(keys)}
    assert forwards == backwards
    assert len(set(forwards.values())) == len(keys)


def test_other_seed_is_another_world() -> None:
    assert as_bytes(sample(1, 1, seed=0)) != as_bytes(sample(1, 1, seed=1))
    assert identity_of(1, 0) != identity_of(1, 1)


def test_person_covers_a_plausible_part(crowd: list[SynthSample]) -> None:
    cover = np.array([item.person.mean() for item in crowd])
    assert cover.min() > 0.04
    assert cover.max() < 0.9
    assert 0.3 < np.median(cover) < 0.5
    assert not any((item.person & item.others).any() for item in crowd)


def test_people_are_not_always_centred(crowd: list[SynthSample]) -> None:
    middle = np.array([np.nonzero(item.person)[1].mean() for item in crowd])
    assert middle.std() > 12
    assert 52 < middle.mean() < 76
    # A fixed central column would miss many of them.
    assert (np.abs(middle - WIDTH / 2) > 16).mean() > 0.2


def test_person_is_warm_but_not_all_of_it_is_bright_or_dark(crowd: list[SynthSample]) -> None:
    clean = [
        item for item in crowd if not any(tag.startswith(("missing", "flat", "black", "sat")) for tag in item.tags)
    ]
    warmer = [item.tir[item.person].mean() > item.tir[~(item.person | item.others)].mean() for item in clean]
    brighter = [item.rgb[item.person].mean() > item.rgb[~item.person].mean() for item in clean]
    brighter_nir = [item.nir[item.person].mean() > item.nir[~item.person].mean() for item in clean]
    assert np.mean(warmer) > 0.95
    assert 0.1 < np.mean(brighter) < 0.7
    assert 0.25 < np.mean(brighter_nir) < 0.85


@pytest.mark.parametrize("pid", range(4))
def test_forced_faults_happen(pid: int) -> None:
    item = sample(pid, pid, seed=2, force={"black_rgb", "saturated_nir", "flat_tir"})
    assert {"black_rgb", "saturated_nir", "flat_tir"} <= item.tags
    assert item.rgb.mean() < 10
    assert item.nir.mean() > 200
    assert item.tir.reshape(-1, 3).std(0).max() < 14


def test_forced_missing_is_mid_grey() -> None:
    item = sample(0, 0, force={"missing_tir"})
    assert (item.tir == 128).all()
    assert item.nir.std() > 1


@pytest.mark.parametrize("tag", ["bag", "two_people", "occluded", "cut_off", "glare", "fog", "day", "night"])
def test_forced_scenes_happen(tag: str) -> None:
    items = [sample(pid, pid % 4, seed=3, force={tag}) for pid in range(6)]
    assert all(tag in item.tags for item in items)
    if tag == "two_people":
        assert all(item.others.any() for item in items)


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="Unknown tags"):
        sample(0, 0, force={"snowman"})
    with pytest.raises(ValueError, match="negative"):
        sample(-1, 0)


def test_forcing_one_thing_adds_no_faults() -> None:
    faults = {"black_rgb", "saturated_nir", "flat_tir", "missing_rgb", "missing_nir", "missing_tir"}
    assert not any(sample(pid, 0, seed=6, force={"day"}).tags & faults for pid in range(20))
