"""The joiner: what it makes runs as a function body, and what it cannot join it refuses by name."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from sdtps.panels import PANELS
from sdtps.web import static
from sdtps.web.static.modules import ModuleError, join, parse

NODE = shutil.which("node")
SCRIPTS = static.STATIC / "js"


def written(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.js"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def ran(script: str) -> object:
    """What a joined script writes into `seen`, run as the body of a function."""
    if NODE is None:
        pytest.skip("Node is not installed.")
    code = f"const seen = []; new Function('seen', {json.dumps(script)})(seen); console.log(JSON.stringify(seen));"
    return json.loads(subprocess.run([NODE, "-e", code], capture_output=True, text=True, check=True).stdout)


def refused(folder: Path, **files: str) -> str:
    with pytest.raises(ModuleError) as error:
        join(written(folder, **files), "main.js", "start(seen)")
    return str(error.value)


def test_modules_run_in_order_each_in_its_own_scope(tmp_path: Path) -> None:
    script = join(
        written(
            tmp_path,
            main="import {\n  add as plus,\n  COUNT,\n} from './core/sums.js';\nimport { Box } from './box.js';\n"
            "const hidden = 'main';\n"
            "export function start(seen) { seen.push(plus(COUNT, 1), new Box(hidden).text(), typeof add); }\n",
            core__sums="const hidden = 'sums';\nexport const COUNT = 41;\n"
            "export const add = (a, b) => (hidden === 'sums' ? a + b : 0);\n",
            box="import { COUNT } from './core/sums.js';\n"
            "export class Box {\n  constructor(name) { this.name = name; }\n"
            "  text() { return `${this.name} ${COUNT}`; }\n}\n",
        ),
        "main.js",
        "start(seen)",
    )
    assert ran(script) == [42, "main 41", "undefined"]


def test_every_known_form_of_export(tmp_path: Path) -> None:
    main = (
        "export async function later() { return 1; }\nexport function* some() { yield 2; }\n"
        "export function start(seen) { seen.push([...some()][0], typeof later().then); }\n"
    )
    assert ran(join(written(tmp_path, main=main), "main.js", "start(seen)")) == [2, "function"]


def test_comments_and_margins_go_and_code_stays(tmp_path: Path) -> None:
    main = (
        "// A heading.\n/**\n * @param {string[]} seen\n */\nexport function start(seen) {\n"
        "  /** @type {any} */ (seen).push('one'); // why\n  const at = '// no comment';\n"
        "  seen.push(/** @type {string} */ (at), 'https://x/**');\n  /* gone */\n}\n/** @typedef {number} Sum */\n"
    )
    script = join(written(tmp_path, main=main), "main.js", "start(seen)")
    assert ran(script) == ["one", "// no comment", "https://x/**"]
    assert "heading" not in script
    assert "@" not in script
    assert not any(line.startswith(" ") for line in script.splitlines())


def test_the_text_is_the_same_each_time_and_closes_no_script_element() -> None:
    for join_it in (static.gradio_script, static.sealed_script):
        first = join_it()
        join_it.cache_clear()
        assert join_it() == first
        assert "</script" not in first.lower()
        assert join_it() is join_it(), "read once"


def test_a_circle_is_refused(tmp_path: Path) -> None:
    said = refused(
        tmp_path,
        main="import { a } from './a.js';\nexport function start() { a(); }\n",
        a="import { b } from './b.js';\nexport const a = () => b;\n",
        b="import { a } from './a.js';\nexport const b = () => a;\n",
    )
    assert said == "Modules import each other in a circle: a.js → b.js → a.js."


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("import { a } from './gone.js';", "There is no module gone.js, which main.js imports, below "),
        ("import { a } from '../../x.js';", "There is no module ../../x.js, which main.js imports, below "),
        ("import { c } from './a.js';", "main.js imports c from a.js, which does not export it."),
        ("import { a } from './a.js';\nimport { b } from './a.js';", "main.js imports from a.js twice"),
        ("import { a, b as a } from './a.js';", "main.js has a twice among its imports and exports"),
        ("import { a } from './a.js';\nexport const a = 1;", "main.js has a twice among its imports and exports"),
        ("import { a b } from './a.js';", "main.js imports a b, which is not a name."),
        ("import a from './a.js';", "main.js has a form that is not joined: import a from './a.js';"),
        ("import * as a from './a.js';", "main.js has a form that is not joined: import * as a"),
        ("import './a.js';", "main.js has a form that is not joined: import './a.js';"),
        ("import { a } from 'left-pad';", "main.js has a form that is not joined: import { a } from 'left-pad';"),
        ("const x = import('./a.js');", "main.js has a form that is not joined: import('./a.js');"),
        ("const x = import.meta.url;", "main.js has a form that is not joined: import.meta.url;"),
        ("export default 1;", "main.js has a form that is not joined: export default 1;"),
        ("export let a = 1;", "main.js has a form that is not joined: export let a = 1;"),
        ("export { a };", "main.js has a form that is not joined: export { a };"),
        ("export const { a } = {};", "main.js has a form that is not joined: export const { a } = {};"),
        ("const x = `one\n  two`;", "main.js has a template over several lines (const x = `one)"),
    ],
)
def test_what_cannot_be_joined_is_named(tmp_path: Path, text: str, sentence: str) -> None:
    start = "export function start() {}\n"
    said = refused(tmp_path, main=f"{text}\n{start}", a="export const a = 1;\nexport const b = 2;\n")
    assert said.startswith(sentence), said


def test_a_missing_start_and_two_modules_of_one_name(tmp_path: Path) -> None:
    assert refused(tmp_path, main="export const a = 1;\n") == "main.js does not export start, which starts it."
    said = refused(
        tmp_path,
        main="import { a } from './x/y.js';\nimport { b } from './x_y.js';\nexport function start() { a(b); }\n",
        x__y="export const a = 1;\n",
        x_y="export const b = 1;\n",
    )
    assert said == "x/y.js and x_y.js would get one name in the joined script; rename one."


def test_no_module_lies_about_unused() -> None:
    needed = {"gradio.js", "sealed.js"}
    while new := {s for path in needed for s in parse(path, (SCRIPTS / path).read_text()).imports} - needed:
        needed |= new
    all_files = {str(path.relative_to(SCRIPTS)) for path in SCRIPTS.rglob("*.js")}
    assert all_files - needed == {"core/types.js"}, "types are read by the type checker only"


def test_no_module_but_texts_names_a_panel() -> None:
    """Adding a panel must not need the scripts: where one is named, its behaviour is its own."""
    own = {
        ("bar/meaning.js", "predictor"),  # what beta mixes
        ("side/why_patch.js", "score"),  # the heading of the sum
        ("core/analysis.js", "weight"),  # what a soft selector has instead of a kept set
        ("grid/readout.js", "weight"),
        ("grid/cells.js", "score"),  # its threshold
        ("grid/hover.js", "score"),  # what Enter opens before anything was pointed at
        *((f"focus/{part}.js", "score") for part in ("curve", "scene")),  # against rank, whatever panel is large
        *(("dialogs/about.js", name) for name in ("score", "aggregation")),  # steps of the method, in pictures
        *(("sealed_why.js", name) for name in ("predictor", "self")),  # the parts of the sum
        ("views/faithfulness_report.js", "score"),  # the legend of its order
        *(("side/selector_facts.js", name) for name in ("self", "cross1", "cross2")),  # what a selector mixes
        *(("views/training.js", name) for name in ("predictor", "aggregation")),  # gradients of these
        *(("views/gradients.js", name) for name in ("score", "predictor", "aggregation")),  # gradients of these
    }
    also_words = {"input", "kept"}  # an element of HTML and a kind of panel
    named = {
        (str(path.relative_to(SCRIPTS)), name)
        for path in SCRIPTS.rglob("*.js")
        for name in set(PANELS) - also_words
        if re.search(rf"'(?:column\.)?{name}'|(?:maps|ranges|packed|raw)\.{name}\b", path.read_text())
    }
    assert named == own
