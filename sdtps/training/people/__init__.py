"""Rendered people: 3D bodies, dressed, posed and lit, seen by three sensors; needs the extra `synth`.

    from sdtps.training.people import sample
    shot = sample(pid=7, view=2, seed=0, force={"night", "bag"})

Bodies come from CC0 data (body), clothes and what is carried from its helper geometry and own meshes (wear); a street
or a CC0 photograph lies around them (street); software OpenGL draws reflectance, warmth and masks (view); sensors and
faults are those of the drawn people (`sdtps.training.synth`).
"""

from sdtps.training.people.shot import RENDERED_TAGS, sample

EDITION = 1

__all__ = ["EDITION", "RENDERED_TAGS", "sample"]
