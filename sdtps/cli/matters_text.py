"""The report of `matters` for a terminal."""

from sdtps.export import matters as files
from sdtps.matters.dead import Sign
from sdtps.matters.report import Matters
from sdtps.matters.verdict import COSINE, shown, signed
from sdtps.types import MODALITIES


def text_of(report: Matters) -> str:
    """The report for a terminal."""
    unit = "image sets, which stand for themselves: no identities are known"
    if report.labelled:
        unit = "identity" if report.identities == 1 else "identities"
    lines = [f"{report.data}: {report.sets} image sets, {report.queries} queries, {report.identities} {unit}"]
    lines.append("")
    metrics = [m for m in report.metrics if m in ("mAP", "Rank-1", COSINE)]
    lines.append(f"{'choice':<28}{'kept':>5}" + "".join(f"{m:>9}" for m in metrics) + f"   gain in {metrics[0]}")
    for row in report.rows:
        values = "".join(f"{files.number(m, row):>9}" for m in metrics)
        gain = ""
        if metrics[0] in row.gain:
            one = shown(metrics[0], row.gain[metrics[0]])
            value, low, high = (signed(v, metrics[0]) for v in (one.value, one.low, one.high))
            gain = f"   {value} [{low}, {high}]"
        lines.append(f"{files.row_title(row):<28}{row.kept:>5}{values}{gain}")
    lines += ["", *(str(row.says) for row in report.rows if row.says and row.sparse_ratio == _own(report))]
    lines += ["", _signs(report)]
    lines += [f"dead: {text}" for text in report.dead]
    if report.broken:
        lines.append(f"left out: {', '.join(report.broken)}")
    return "\n".join(lines)


def _own(report: Matters) -> float:
    return report.settings.sparse_ratio


def _signs(report: Matters) -> str:
    """The vital signs, each beside what an untrained selector shows."""
    lines = [f"{'vital signs (untrained)':<28}" + "".join(f"{m.upper():>18}" for m in MODALITIES)]
    for name in dict.fromkeys(s.name for s in report.signs):
        cells = (_sign(s) for s in report.signs if s.name == name)
        lines.append(f"{name:<28}" + "".join(f"{cell:>18}" for cell in cells))
    lines.append(
        f"{report.feature_share:.1%} of the feature's squared length and {report.variance_share:.1%} of its variance "
        "pass through the selection"
    )
    lines += [f"{part}: moved by {distance:.4f} since its training began" for part, distance in report.moved.items()]
    return "\n".join(lines)


def _sign(sign: Sign) -> str:
    return f"{sign.value:.3f} ({sign.untrained:.3f})" if sign.untrained == sign.untrained else f"{sign.value:.3f}"
