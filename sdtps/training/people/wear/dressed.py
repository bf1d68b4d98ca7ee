"""A person in a pose, with what they carry, standing on the ground."""

import numpy as np

from sdtps.training.people.body.gait import Stance, turns_of
from sdtps.training.people.body.skeleton import pose
from sdtps.training.people.body.turns import Y, about
from sdtps.training.people.view.surface import Mesh, Owner
from sdtps.training.people.wear import carried
from sdtps.training.people.wear.wardrobe import Person
from sdtps.training.synth.types import Rng, Vector

HANGING = ("hand", "shopping", "trolley")


def arms_for(person: Person, with_bag: bool, action: str) -> dict[str, str]:
    """What arms must do for a bag and an action: umbrella, pram, bicycle or none."""
    arms: dict[str, str] = {}
    if action in ("pram", "bicycle"):
        return dict.fromkeys("LR", "push" if action == "pram" else "ride")
    if with_bag and person.bag is not None and person.bag.kind in HANGING:
        arms[person.bag.side] = "carry"
    if action == "umbrella":
        arms[next(s for s in "RL" if s not in arms)] = "hold"
    return arms


def dress(rng: Rng, person: Person, stance: Stance, with_bag: bool, action: str, owner: Owner) -> list[Mesh]:
    """All meshes of a posed person; feet or wheels on y = 0, the body's middle above the origin, facing +z."""
    posed = pose(person.body, turns_of(stance, person.body))
    pieces = person.pieces if with_bag else person.without_pack
    meshes = [piece.posed(posed, owner) for piece in pieces]
    low = min(float(mesh.points[:, 1].min()) for mesh in meshes)
    if action == "bicycle":
        hip = posed.place("spine05")
        bike = carried.bicycle(hip + np.array([0, -1.15, -0.5]), person.ride, owner)
        low = min(float(mesh.points[:, 1].min()) for mesh in bike)
        meshes += bike
    elif action == "pram":
        hands = (posed.place("wrist.L") + posed.place("wrist.R")) / 2 + np.array([0, -0.2, 0.7])
        meshes += carried.pram(hands, low, person.ride, owner)
    if action == "umbrella":
        side = next(s for s, a in stance.arms.items() if a == "hold")
        meshes += carried.umbrella(posed, side, person.umbrella, owner)
    if with_bag and person.bag is not None and person.bag.kind != "backpack" and action not in ("pram", "bicycle"):
        meshes += carried.hand_bag(posed, person.bag, float(rng.normal(0, 0.35)), owner)
    for side, arm in stance.arms.items():
        if arm == "phone":
            meshes += carried.phone(posed, side, owner)
    middle = posed.place("spine03")
    shift = -np.array([middle[0], low, middle[2]])
    return [mesh.moved(np.eye(3), shift) for mesh in meshes]


def stand(meshes: list[Mesh], bearing: float, place: Vector) -> list[Mesh]:
    """Turn about the upright axis and put somewhere."""
    turn = about(Y, bearing)
    return [mesh.moved(turn, place) for mesh in meshes]
