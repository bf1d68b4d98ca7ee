"""Joins ES modules into one script, without a bundler and without Node.

Each module becomes a function of its own whose result is what it exports, in the order in which they need each other;
so the scope of a module stays private, and the text runs wherever a function body runs. Only these forms are known, and
everything else is refused:

    import { name, name as other } from './path.js';
    export function name / export async function name / export function* name / export class name / export const name

Comments that stand on lines of their own, types within lines (`/** @type … */`) and the space before a line are left
out of the joined script: a page carries it in its document.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

NAME = r"[A-Za-z_$][\w$]*"
IMPORT = re.compile(r"^import \{([^{}]*)\} from '(\.{1,2}/[\w./-]+\.js)';$", re.MULTILINE)
PART = re.compile(rf"({NAME})(?: as ({NAME}))?")
EXPORT = re.compile(rf"^export (?=(?:(?:async )?function\*?|class|const) ({NAME})\b)", re.MULTILINE)
COMMENT = re.compile(r"^[ \t]*(?:/\*(?:(?!\*/).)*\*/[ \t]*|//[^\n]*)\n", re.MULTILINE | re.DOTALL)
TYPE = re.compile(r"/\*\* @(?:(?!\*/).)*\*/ ?")
MARGIN = re.compile(r"^\s+", re.MULTILINE)
LEFT_OVER = re.compile(r"^(?:import|export)\b.*|\bimport\s*[(.].*", re.MULTILINE)
OPEN_TEMPLATE = re.compile(r"^[^`\n]*`(?:[^`\n]*`[^`\n]*`)*[^`\n]*$", re.MULTILINE)  # an odd number of backticks


class ModuleError(ValueError):
    """The modules cannot be joined: one sentence that says where and why."""


@dataclass(frozen=True)
class Module:
    """One file.

    Attributes:
        path: below the folder of the scripts, with slashes.
        imports: path of another module to the names taken from it, each with the name it has here.
        exports: the names it offers.
        body: its text without imports and the word `export`.
    """

    path: str
    imports: Mapping[str, tuple[tuple[str, str], ...]]
    exports: tuple[str, ...]
    body: str

    @property
    def name(self) -> str:
        """The name of its exports in the joined script."""
        return "$" + re.sub(r"\W", "_", self.path.removesuffix(".js"))

    def text(self, known: Mapping[str, "Module"]) -> str:
        """Its part of the joined script."""
        taken = "".join(
            f"const {{ {', '.join(a if a == b else f'{a}: {b}' for a, b in names)} }} = {known[path].name};\n"
            for path, names in self.imports.items()
        )
        return f"const {self.name} = (() => {{\n{taken}{self.body}return {{ {', '.join(self.exports)} }};\n}})();\n"


def join(folder: Path, entry: str, call: str) -> str:
    """All modules that an entry needs as one script.

    Args:
        folder: of the modules.
        entry: path of the first one below it.
        call: what runs at the end: a function that the entry exports, with its arguments.
    """
    modules = {module.path: module for module in _ordered(folder, entry, ())}
    names = [module.name for module in modules.values()]
    if clash := next((name for name in names if names.count(name) > 1), None):
        both = " and ".join(path for path, module in modules.items() if module.name == clash)
        raise ModuleError(f"{both} would get one name in the joined script; rename one.")
    started = call.partition("(")[0]
    if started not in modules[entry].exports:
        raise ModuleError(f"{entry} does not export {started}, which starts it.")
    parts = "".join(module.text(modules) for module in modules.values())
    return f"'use strict';\n{parts}{modules[entry].name}.{call};\n"


def parse(path: str, text: str) -> Module:
    """Read one module."""
    text = TYPE.sub("", COMMENT.sub("", text if text.endswith("\n") else text + "\n"))
    if broken := OPEN_TEMPLATE.search(text):
        raise ModuleError(f"{path} has a template over several lines ({broken[0].strip()}); keep it on one line.")
    imports: dict[str, tuple[tuple[str, str], ...]] = {}
    for names, target in IMPORT.findall(text):
        source = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        if source in imports:
            raise ModuleError(f"{path} imports from {source} twice; write one import.")
        imports[source] = tuple(_names(path, names))
    exports = tuple(EXPORT.findall(text))
    body = MARGIN.sub("", EXPORT.sub("", IMPORT.sub("", text)))
    if left := LEFT_OVER.search(body):
        raise ModuleError(f"{path} has a form that is not joined: {left[0].strip()}")
    here = [local for names in imports.values() for _, local in names] + list(exports)
    if twice := next((name for name in here if here.count(name) > 1), None):
        raise ModuleError(f"{path} has {twice} twice among its imports and exports; rename one.")
    return Module(path, imports, exports, body)


def _names(path: str, listed: str) -> Iterator[tuple[str, str]]:
    for item in filter(None, map(str.strip, listed.split(","))):
        part = PART.fullmatch(item)
        if part is None:
            raise ModuleError(f"{path} imports {item}, which is not a name.")
        yield part[1], part[2] or part[1]


def _ordered(folder: Path, path: str, above: tuple[str, ...], done: dict[str, Module] | None = None) -> list[Module]:
    """Depth first: what a module needs comes before it."""
    done = {} if done is None else done
    if path in above:
        raise ModuleError(f"Modules import each other in a circle: {' → '.join((*above[above.index(path) :], path))}.")
    if path in done:
        return []
    module = parse(path, _read(folder, path, above))
    before = []
    for source, names in module.imports.items():
        before += _ordered(folder, source, (*above, path), done)
        for name, _ in names:
            if name not in done[source].exports:
                raise ModuleError(f"{path} imports {name} from {source}, which does not export it.")
    done[path] = module
    return [*before, module]


def _read(folder: Path, path: str, above: tuple[str, ...]) -> str:
    if path.startswith("..") or not (folder / path).is_file():
        by = f", which {above[-1]} imports," if above else ""
        raise ModuleError(f"There is no module {path}{by} below {folder.name}/.")
    return (folder / path).read_text(encoding="utf-8")
