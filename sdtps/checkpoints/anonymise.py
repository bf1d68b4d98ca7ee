"""For double-blind review: weights that show neither name, path nor hash of the author's files."""

from dataclasses import replace

from sdtps.models.reid import LoadedModel
from sdtps.support.messages import Message
from sdtps.types import WeightsReport

HIDDEN = "hidden-"  # stands where the hash was, and never equals one


def hide(report: WeightsReport, number: int = 1) -> WeightsReport:
    """The report without what leads to its author; what was loaded and what is missing stays."""
    kept = tuple(
        n for n in report.notes if isinstance(n, Message) and "name" not in n.values and "path" not in n.values
    )
    return replace(report, name=f"anonymous weights {number}", sha256=f"{HIDDEN}{number}", notes=kept, about={})


def hide_model(model: LoadedModel, number: int = 1) -> LoadedModel:
    """The same model under an anonymous report: everything made with it is anonymous, too."""
    return replace(model, weights=hide(model.weights, number))


def is_hidden(report: WeightsReport) -> bool:
    """Whether a report was made anonymous."""
    return report.sha256.startswith(HIDDEN)


def made_by(model: LoadedModel, report: WeightsReport) -> bool:
    """Whether a report, such as a bundle's, is about these weights read in this way; hidden ones tell nothing."""
    ours, theirs = model.weights.facts, report.facts
    alike = all(ours[fact] == theirs[fact] for fact in ours.keys() & theirs.keys())
    return report.sha256 == model.weights.sha256 and alike and not is_hidden(report)
