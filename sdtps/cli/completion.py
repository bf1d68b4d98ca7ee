"""`completion`: a script by which a shell completes commands, options and choices. Made from the parser itself."""

import argparse
import shlex
from collections.abc import Iterator

from sdtps.cli.options import Subparsers
from sdtps.cli.options import add_command as add_parser

SHELLS = ("bash", "zsh", "fish")
EXAMPLES = """
    completion bash > ~/.local/share/bash-completion/completions/sdtps
    completion zsh >> ~/.zshrc
    completion fish > ~/.config/fish/completions/sdtps.fish
"""
Described = dict[str, argparse.ArgumentParser]


def add_command(commands: Subparsers) -> None:
    """Describe the command."""
    parser = add_parser(commands, "completion", "print a script that completes `sdtps` in a shell", EXAMPLES)
    parser.add_argument("shell", choices=SHELLS)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the script."""
    from sdtps.cli.main import build_parser

    print(script(build_parser(), options.shell))
    return 0


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """The script for a shell."""
    described = dict(_commands(parser))
    if shell == "fish":
        return "\n".join(_fish(described))
    start = "autoload -Uz compinit bashcompinit && compinit && bashcompinit\n" if shell == "zsh" else ""
    return start + _bash(described)


def _commands(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def _options(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return [action for action in parser._actions if action.option_strings and action.help != argparse.SUPPRESS]


def _bash(described: Described) -> str:
    cases, choices = [], []
    for name, parser in described.items():
        names = " ".join(o for action in _options(parser) for o in action.option_strings)
        cases.append(f"        {name}) options={shlex.quote(names)} ;;")
        for action in parser._actions:
            if action.choices and not isinstance(action, argparse._SubParsersAction):
                words = shlex.quote(" ".join(map(str, action.choices)))
                for option in action.option_strings or [name]:
                    key = f"{name}:{option}" if action.option_strings else f"{name}:{name}"
                    choices.append(f"        {shlex.quote(key)}) words={words} ;;")
    lines = [
        "_sdtps() {",
        "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options= words=",
        '    if [ "$COMP_CWORD" -eq 1 ]; then',
        f'        COMPREPLY=($(compgen -W {shlex.quote(" ".join(described))} -- "$word")); return',
        "    fi",
        '    case "${COMP_WORDS[1]}:$before" in',
        *choices,
        "    esac",
        '    if [ -n "$words" ]; then COMPREPLY=($(compgen -W "$words" -- "$word")); return; fi',
        '    case "${COMP_WORDS[1]}" in',
        *cases,
        "    esac",
        '    case "$word" in',
        '        -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;',
        '        *) COMPREPLY=($(compgen -f -- "$word")) ;;',
        "    esac",
        "}",
        "complete -o filenames -F _sdtps sdtps",
    ]
    return "\n".join(lines)


def _fish(described: Described) -> Iterator[str]:
    first = "__fish_use_subcommand"
    for name, parser in described.items():
        yield f"complete -c sdtps -n {first} -f -a {name} -d {shlex.quote(_line(parser.description or name))}"
        inside = shlex.quote(f"__fish_seen_subcommand_from {name}")
        for action in parser._actions:
            known = f" -x -a {shlex.quote(' '.join(map(str, action.choices)))}" if action.choices else ""
            for option in (o for o in action.option_strings if o.startswith("--")):
                yield f"complete -c sdtps -n {inside} -l {option[2:]}{known} -d {shlex.quote(_line(action.help or ''))}"
            if known and not action.option_strings:
                yield f"complete -c sdtps -n {inside}{known}"


def _line(text: str) -> str:
    return " ".join(text.split())[:80]
