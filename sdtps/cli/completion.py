"""`completion`: a script by which a shell completes commands, options and choices. Made from the parsers themselves."""

import argparse
import shlex
from collections.abc import Iterator

from sdtps.cli.options import Subparsers
from sdtps.cli.options import add_command as add_parser

SHELLS = ("bash", "zsh", "fish")
PAGE = "sdtps-lens"
EXAMPLES = """
    completion bash >> ~/.bashrc
    completion zsh >> ~/.zshrc
    completion fish > ~/.config/fish/conf.d/sdtps.fish
"""
Described = dict[str, argparse.ArgumentParser]


def add_command(commands: Subparsers) -> None:
    """Describe the command."""
    short = "print a script that completes `sdtps` and `sdtps-lens` in a shell"
    parser = add_parser(commands, "completion", short, EXAMPLES)
    parser.add_argument("shell", choices=SHELLS, help="which shell will read it")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the script."""
    from sdtps.cli.main import every_parser

    print(script(every_parser(), options.shell))
    return 0


def script(described: Described, shell: str) -> str:
    """The script for a shell."""
    if shell == "fish":
        return "\n".join(_fish(described))
    start = "autoload -Uz compinit bashcompinit && compinit && bashcompinit\n" if shell == "zsh" else ""
    return start + _bash(described)


def _bash(described: Described) -> str:
    cases, choices = [], []
    for name, parser in described.items():
        names = " ".join(option for action in parser._actions for option in action.option_strings)
        cases.append(f"        {name}) options={shlex.quote(names)} ;;")
        for action in parser._actions:
            if action.choices:
                words = shlex.quote(" ".join(map(str, action.choices)))
                keys = "|".join(f"{name}:{before}" for before in action.option_strings or [name])
                choices.append(f"        {keys}) words={words} ;;")
    commands = " ".join(name for name in described if name != PAGE)
    lines = [
        "_sdtps() {",
        "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}",
        "    local command=${COMP_WORDS[1]} options= words=",
        f'    if [ "${{COMP_WORDS[0]##*/}}" = {PAGE} ]; then',
        f"        command={PAGE}",
        '    elif [ "$COMP_CWORD" -eq 1 ]; then',
        f'        COMPREPLY=($(compgen -W "{commands} --help --version" -- "$word")); return',
        "    fi",
        '    case "$command:$before" in',
        *choices,
        "    esac",
        '    case "$command" in',
        *cases,
        "    esac",
        '    case "$word" in -*) words=$options ;; esac',
        # Where there are no words, the shell completes files.
        '    COMPREPLY=(); if [ -n "$words" ]; then COMPREPLY=($(compgen -W "$words" -- "$word")); fi',
        "}",
        f"complete -o default -F _sdtps sdtps {PAGE}",
    ]
    return "\n".join(lines)


def _fish(described: Described) -> Iterator[str]:
    for option in ("help", "version"):
        yield f"complete -c sdtps -n __fish_use_subcommand -l {option}"
    for name, parser in described.items():
        start = f"complete -c {PAGE}"
        if name != PAGE:
            about = shlex.quote(_line(parser.description or name))
            yield f"complete -c sdtps -n __fish_use_subcommand -f -a {name} -d {about}"
            start = f"complete -c sdtps -n {shlex.quote(f'__fish_seen_subcommand_from {name}')}"
        for action in parser._actions:
            known = f" -x -a {shlex.quote(' '.join(map(str, action.choices)))}" if action.choices else ""
            for option in (o for o in action.option_strings if o.startswith("--")):
                yield f"{start} -l {option[2:]}{known} -d {shlex.quote(_line(action.help or ''))}"
            if known and not action.option_strings:
                yield f"{start}{known}"


def _line(text: str) -> str:
    return " ".join(text.split())[:80]
