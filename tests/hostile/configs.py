"""Training configurations: YAML that would run code, unfold, or say nonsense."""

from tests.hostile.cases import Case, constant, refused

UNREADABLE, VALUE = "config.unreadable", "config.value"


def _laughs(levels: int) -> bytes:
    """Lists of lists of lists: few bytes, and 9 to the power of `levels` words."""
    lines = ["a0: &a0 [lol, lol]", *(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, levels))]
    return "\n".join([*lines, f"MODEL: {{SDTPS_BETA: *a{levels - 1}}}"]).encode()


def _merges(levels: int) -> bytes:
    """Mappings merged into mappings, which a reader would copy at every level."""
    lines = ["a0: &a0 {x: 1}", *(f"a{i}: &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * 9)}]}}" for i in range(1, levels))]
    return "\n".join([*lines, "MODEL: {}"]).encode()


CONFIGS: tuple[Case, ...] = (
    Case("good.yml", constant(b"MODEL:\n  SDTPS_SPARSE_RATIO: 0.3\nINPUT:\n  SIZE_TEST: '[256, 128]'\n")),
    Case("empty-sections.yml", constant(b"MODEL: 3\nINPUT: [1, 2]\n")),
    refused("tag.yml", constant(b"MODEL: !!python/object/apply:os.system ['touch ran']\n"), UNREADABLE),
    refused("tag-name.yml", constant(b"MODEL: !!python/name:os.system\n"), UNREADABLE),
    refused("own-tag.yml", constant(b"MODEL: !include /etc/passwd\n"), UNREADABLE),
    refused("laughs.yml", lambda: _laughs(10), UNREADABLE),
    refused("merges.yml", lambda: _merges(10), UNREADABLE),
    refused("nested.yml", constant(b"MODEL: " + b"[" * 3_000), UNREADABLE),
    refused("nested-text.yml", constant(b'INPUT: {SIZE_TEST: "' + b"(" * 20_000 + b'"}'), VALUE),
    refused("nested-sum.yml", constant(b'INPUT: {SIZE_TEST: "' + b"-" * 20_000 + b'1"}'), VALUE),
    refused("large.yml", constant(b"# x\n" * 300_000), UNREADABLE),
    refused("binary.yml", constant(b"\x80\x02]q\x00."), UNREADABLE),
    refused("latin.yml", constant(b"MODEL: {SDTPS_BETA: \xff}"), UNREADABLE),
    refused("list.yml", constant(b"- 1\n- 2\n"), UNREADABLE),
    refused("empty.yml", constant(b""), UNREADABLE),
    refused("word.yml", constant(b"MODEL: {SDTPS_BETA: <script>}"), VALUE),
    refused("nan.yml", constant(b"MODEL: {SDTPS_BETA: .nan}"), VALUE),
    refused("infinite-size.yml", constant(b"INPUT: {SIZE_TEST: [.inf, 128]}"), VALUE),
    refused("no-size.yml", constant(b"INPUT: {SIZE_TEST: [null, null]}"), VALUE),
    refused("flat-spread.yml", constant(b"INPUT: {PIXEL_MEAN: [0, 0, 0], PIXEL_STD: [0, 0, 0]}"), VALUE),
    refused("vast-size.yml", constant(b"INPUT: {SIZE_TEST: [1.0e+300, 128]}"), VALUE, "weights.size"),
    refused("negative-size.yml", constant(b"INPUT: {SIZE_TEST: [-256, 128]}"), VALUE, "weights.size"),
)
