from dataclasses import replace

import numpy as np

import sdtps
from sdtps.metrics.flatness import flat_maps


def changed(trace, **maps):
    return replace(trace, **{name: np.asarray(values, np.float32) for name, values in maps.items()})


def test_a_map_is_flat_below_one_percent_of_what_it_can_have(analyse_at):
    trace = analyse_at()["rgb"]
    ramp = np.linspace(0, 1, 128)
    settings = sdtps.Settings(beta=0.25)  # the score can have 0 to 1.5
    for share, flat in ((0.009, True), (0.011, False)):
        found = flat_maps(changed(trace, predictor=0.4 + share * ramp, score=0.4 + 1.5 * share * ramp), "rgb", settings)
        assert found["predictor"] is flat
        assert found["score"] is flat


def test_weights_are_measured_by_their_largest_and_by_what_is_kept(analyse_at):
    trace = analyse_at()["rgb"]
    even = np.full(trace.aggregation_weights.shape, 1 / trace.kept, np.float32)
    assert flat_maps(replace(trace, aggregation_weights=even), "rgb", sdtps.Settings())["aggregation"] is True
    assert flat_maps(changed(trace, soft_mask=np.full(128, 1 / 128)), "rgb", sdtps.Settings())["soft"] is True
    tilted = np.full(128, 1 / 128) * np.linspace(0.9, 1.1, 128)
    assert flat_maps(changed(trace, soft_mask=tilted), "rgb", sdtps.Settings())["soft"] is False


def test_only_the_maps_that_are_asked_for(analyse_at):
    trace = analyse_at()["nir"]
    assert set(flat_maps(trace, "nir", sdtps.Settings(), moving=False)) == {"self", "cross1", "cross2", "predictor"}
    assert "score" in flat_maps(trace, "nir", sdtps.Settings(), moving=True)
