"""``python -m dtl completion``: a script that completes the words of the command ``dtl`` in a shell."""

from __future__ import annotations

import shlex
from typing import NamedTuple, Sequence

from . import ArgumentsError, doctor, run, trace

USAGE = "python -m dtl completion (bash | zsh | fish)"

_HELP = f"""\
usage: {USAGE}

Print a script that completes commands, options and files of the command dtl:

  bash   eval "$(dtl completion bash)" in ~/.bashrc
  zsh    eval "$(dtl completion zsh)" in ~/.zshrc, after compinit
  fish   dtl completion fish > ~/.config/fish/completions/dtl.fish"""

_SHELLS = ("bash", "zsh", "fish")

#: The commands, and what each does.
_COMMANDS = {
    "run": "run a program on several ranks",
    "trace": "run a program and say what its calls cost",
    "doctor": "run a program and say what would be faster",
    "info": "say what is here and what can be used",
    "completion": "print what completes this command in a shell",
}


class Option(NamedTuple):
    """An option of a command: how it is written, whether a value follows, and what it does."""

    names: Sequence[str]
    has_value: bool
    help: str


def main(arguments: Sequence[str]) -> int:
    """Print the script for the shell that the one argument names.

    Raises
    ------
    ArgumentsError
        If it is none of those that there are.
    """
    if arguments and arguments[0] in ("-h", "--help"):
        print(_HELP)
        return 0
    if len(arguments) != 1 or arguments[0] not in _SHELLS:
        raise ArgumentsError(f"completion takes the name of a shell: {', '.join(_SHELLS)}")
    print(_fish() if arguments[0] == "fish" else _bash(arguments[0]), end="")
    return 0


def _options() -> dict[str, list[Option]]:
    of_run = [Option(names, has_value, text) for names, has_value, text in run.options()]
    others = {"trace": trace.OPTIONS, "doctor": doctor.OPTIONS}
    of_others = {name: [Option(*option) for option in options] for name, options in others.items()}
    return {"run": of_run, **of_others}


_BASH = """\
_dtl() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} options="" values="" at=2
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "{commands} --help --version" -- "$current"))
        return
    fi
    case ${{COMP_WORDS[1]}} in
{cases}
    completion) COMPREPLY=($(compgen -W "{shells}" -- "$current")); return ;;
    esac
    while [ "$at" -lt "$COMP_CWORD" ]; do  # options are those before the program
        if [ "${{COMP_WORDS[at]}}" = -m ]; then
            return
        fi
        case " $values " in
        *" ${{COMP_WORDS[at]}} "*) at=$((at + 2)); continue ;;
        esac
        case ${{COMP_WORDS[at]}} in
        -*) at=$((at + 1)) ;;
        *) return ;;
        esac
    done
    if [ "$at" -eq "$COMP_CWORD" ] && [ "${{current#-}}" != "$current" ]; then
        COMPREPLY=($(compgen -W "$options" -- "$current"))
    fi
}}
complete -o default -F _dtl dtl
"""


def _bash(shell: str) -> str:
    cases = []
    for command, options in _options().items():
        every = " ".join(name for option in options for name in option.names)
        values = " ".join(name for option in options if option.has_value for name in option.names)
        cases.append(f'    {command}) options="{every}" values="{values}" ;;')
    script = _BASH.format(commands=" ".join(_COMMANDS), cases="\n".join(cases), shells=" ".join(_SHELLS))
    return script if shell == "bash" else "autoload -U +X bashcompinit && bashcompinit\n" + script


def _fish() -> str:
    lines = ["complete -c dtl -n __fish_use_subcommand -s h -l help -l version"]
    for command, text in _COMMANDS.items():
        lines.append(f"complete -c dtl -f -n __fish_use_subcommand -a {command} -d {shlex.quote(text)}")
    for command, options in _options().items():
        for option in options:
            words = ["complete -c dtl", f"-n '__fish_seen_subcommand_from {command}'"]
            for name in option.names:
                kind = "-l" if name.startswith("--") else "-s" if len(name) == 2 else "-o"
                words.append(f"{kind} {name.lstrip('-')}")
            words += ["-r"] if option.has_value else []
            lines.append(" ".join([*words, "-d", shlex.quote(option.help)]))
    lines.append(f"complete -c dtl -f -n '__fish_seen_subcommand_from completion' -a '{' '.join(_SHELLS)}'")
    return "\n".join(lines) + "\n"
