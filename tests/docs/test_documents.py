"""Every document: its examples and commands run, its links lead somewhere, its words are those of the page."""

import ast
import json
import re
from subprocess import CalledProcessError

import pytest

from scripts.docs_site import links, place_of, target_of, turned
from sdtps import VARIANTS
from sdtps.panels import SDTPS_PANELS
from sdtps.resources import PROJECT
from tests.docs.blocks import DOCUMENTS, RUN, Block, blocks_of, commands_of
from tests.docs.reader import Reader, set_the_table

RUNNING = [d for d in DOCUMENTS if any(b.language in RUN and b.reason is None for b in blocks_of(d))]
BUILT_IN = tuple(VARIANTS)  # before any test registers one of its own
ALL_LINKED = (*DOCUMENTS, "CHANGELOG.md", "SECURITY.md", "checkpoints/README.md")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return set_the_table(tmp_path_factory.mktemp("reader"))


@pytest.fixture
def quick(monkeypatch):
    """Few stops: every further one costs the same work again."""
    monkeypatch.setattr("sdtps.export.supplement.PLANS", (((), (), ()),))
    monkeypatch.setattr("sdtps.export.supplement.RATIO_STRIDE", 19)


@pytest.mark.parametrize("document", RUNNING)
def test_what_a_document_says_runs_in_order(document, folder, monkeypatch, quick):
    monkeypatch.chdir(folder)
    with Reader(folder) as reader:
        done = {
            str(block): reader.run(block)
            for block in blocks_of(document)
            if block.language in RUN and block.reason is None
        }
    assert min(done.values()) > 0, "a block that says it runs does something"


@pytest.mark.parametrize(
    ("language", "text", "failure"),
    [
        ("python", "assert 1 == 2\n", AssertionError),
        ("sh", "python -m sdtps data no-such-folder\n", AssertionError),
        ("sh", "make no-such-target\n", CalledProcessError),
        ("sh", "cat no-such-file | cat\n", CalledProcessError),
    ],
)
def test_what_does_not_work_fails(language, text, failure, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Reader(tmp_path) as reader, pytest.raises(failure):
        reader.run(Block("here", 1, language, None, text))


def test_most_blocks_run_and_the_others_say_why():
    blocks = [b for d in DOCUMENTS for b in blocks_of(d) if b.language in RUN]
    left_out = [b for b in blocks if b.reason is not None]
    assert len(left_out) <= len(blocks) / 2, [str(b) for b in left_out]
    assert all(len(b.reason or "") > 5 for b in left_out)


def test_every_block_says_its_language():
    assert [str(b) for d in DOCUMENTS for b in blocks_of(d) if not b.language] == []


@pytest.mark.parametrize("document", ALL_LINKED)
def test_local_links_lead_somewhere(document):
    text = (PROJECT / document).read_text(encoding="utf-8")
    broken = [found[3] for found in links(text) if not (PROJECT / target_of(document, found[3])).exists()]
    assert broken == []


@pytest.mark.parametrize("document", ALL_LINKED)
def test_links_to_headings_find_them(document):
    text = (PROJECT / document).read_text(encoding="utf-8")
    for found in links(text):
        if found[4]:
            target = (PROJECT / target_of(document, found[3])).read_text(encoding="utf-8")
            headings = re.findall(r"^#+ (.+)$", target, re.MULTILINE)
            slugs = {re.sub(r"[^\w\- ]", "", h).strip().lower().replace(" ", "-") for h in headings}
            assert found[4].lstrip("#") in slugs, found[0]


def test_the_readme_fits_on_a_few_screens():
    assert len((PROJECT / "README.md").read_bytes()) <= 8_000


@pytest.mark.parametrize("document", ["docs/guide.md", "docs/zh/guide.md"])
def test_every_variant_is_explained(document):
    text = (PROJECT / document).read_text(encoding="utf-8")
    assert [name for name in BUILT_IN if f"`{name}`" not in text] == []


def test_both_guides_show_the_same():
    guides = [(PROJECT / path).read_text(encoding="utf-8") for path in ("docs/guide.md", "docs/zh/guide.md")]
    pictures = [re.findall(r"screenshots/([\w-]+\.png)", text) for text in guides]
    # The Chinese guide has the page and its views in Chinese; the table of examples is the same.
    assert pictures[0] == [name.removeprefix("zh-") for name in pictures[1]]
    assert {"zh-day-light.png", "zh-why.png", "zh-compare.png"} <= set(pictures[1])
    assert all("triplet" not in text.lower() for text in guides)


@pytest.mark.parametrize(("document", "language"), [("docs/guide.md", "en"), ("docs/zh/guide.md", "zh")])
def test_a_guide_calls_things_as_the_page_does(document, language):
    """Tabs, columns and variants by their names there; exports in the heading of their section."""
    texts = texts_of(language)
    guide = (PROJECT / document).read_text(encoding="utf-8")
    tabs = {
        f"view.{name}"
        for name in ("compare", "variants", "training", "gradients", "faithfulness", "rank", "matters", "cases")
    }
    columns = {f"column.{p}" for p in SDTPS_PANELS if not p.startswith("cross")}
    titles = {texts.get(f"variant.title.{name}", VARIANTS[name].title) for name in BUILT_IN}
    assert [name for name in {texts[key] for key in tabs | columns} | titles if name not in guide] == []


def test_chinese_documents_call_exports_as_the_page_does():
    texts = texts_of("zh")
    for document in ("README.zh-CN.md", "docs/zh/guide.md"):
        text = (PROJECT / document).read_text(encoding="utf-8")
        names = [texts[f"export.{kind}.title"] for kind in ("figure", "bundle", "supplement")]
        assert [name for name in names if name not in text] == [], document


def test_both_readmes_run_the_same():
    english, chinese = ([b for b in blocks_of(d) if b.language in RUN] for d in ("README.md", "README.zh-CN.md"))
    for ours, theirs in zip(english, chinese, strict=True):
        if ours.language == "sh":
            assert list(commands_of(ours.text)) == list(commands_of(theirs.text))
        else:
            assert ast.dump(ast.parse(ours.text)) == ast.dump(ast.parse(theirs.text))


def texts_of(language):
    files = (PROJECT / "sdtps" / "web" / "static" / "texts").glob(f"*.{language}.json")
    return {key: text for file in files for key, text in json.loads(file.read_text(encoding="utf-8")).items()}


def test_the_site_turns_links_that_leave_the_folder_of_documents():
    text = "[card](../checkpoints/README.md) ![](../assets/screenshots/why.png) [recipe](../configs/embedded.yaml)\n"
    shown = turned(text + "[a](guide.md#keys-and-links) `[b](c)`\n```sh norun: why\n[d](e)\n```\n", "docs/training.md")
    assert shown.startswith("[card](checkpoints/README.md) ![](assets/screenshots/why.png) recipe\n")
    assert "[a](guide.md#keys-and-links) `[b](c)`\n```sh\n[d](e)\n" in shown
    assert turned("[x](../data.md)", "docs/zh/guide.md") == "[x](../data.md)"
    assert turned("[x](docs/data.md)", "CONTRIBUTING.md") == "[x](data.md)"
    assert place_of("Makefile") is None


def test_the_notebook_is_stored_without_what_it_printed():
    book = json.loads((PROJECT / "docs" / "notebook.ipynb").read_text(encoding="utf-8"))
    assert all(not cell["outputs"] for cell in book["cells"] if cell["cell_type"] == "code")
