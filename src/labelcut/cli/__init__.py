"""The command ``labelcut``: words on the command line into calls of the other modules, and messages out.

Exit codes: 0 fine, 1 a fault of ours, 2 wrong use (an option, a path, an output that cannot be written),
3 bad data, 4 more suspect labels than --fail-above allows, 130 interrupted.
"""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

import click

from labelcut.cli.apply import apply as _apply
from labelcut.cli.audit import audit as _audit
from labelcut.cli.demo import demo as _demo
from labelcut.cli.interrupts import take_interrupts
from labelcut.cli.options import as_typed
from labelcut.cli.printing import BAD_DATA, INTERRUPTED, OUR_FAULT, WRONG_USE, fail

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

__all__ = ["INTERRUPTED", "cli", "main"]

COMMANDS = "labelcut.commands"  # Entry points of this group are commands too; `experiment` is one.


class _Group(click.Group):
    """Our own commands, and those that other parts bring along."""

    def list_commands(self, context: click.Context) -> list[str]:
        return sorted({*super().list_commands(context), *(entry.name for entry in _brought_along())})

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        own = super().get_command(context, name)
        if own is not None:
            return own
        for entry in _brought_along():
            if entry.name == name:
                try:
                    loaded: click.Command = entry.load()
                except ImportError as error:
                    fail(f"{name} needs a package that is not installed ({error.name}); see the README.")
                return loaded
        return None

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            self._refuse_unknown(args[0], self.list_commands(context))
        return super().resolve_command(context, args)

    def _refuse_unknown(self, name: str, names: list[str]) -> None:
        import difflib

        if name not in names:
            close = difflib.get_close_matches(name, names, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(names)}."
            fail(f"no command {name!r}; {hint}")


def _brought_along() -> EntryPoints:
    from importlib.metadata import entry_points

    return entry_points(group=COMMANDS)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="labelcut", prog_name="labelcut")
def cli() -> None:
    """Find the labels of a table that are probably wrong, and decide about them."""


for _command in (_audit, _apply, _demo):
    cli.add_command(_command)


def _replace_what_a_terminal_cannot_show() -> None:
    """Print a question mark for a letter that is not in the terminal's encoding, rather than fail on it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def main(args: list[str] | None = None) -> None:
    """Run the command and leave with its exit code, never with a traceback."""
    take_interrupts()
    _replace_what_a_terminal_cannot_show()
    try:
        cli.main(args=args, prog_name="labelcut", standalone_mode=False)
    except click.exceptions.Abort:
        fail("interrupted; nothing was written.", INTERRUPTED)
    except click.ClickException as error:
        fail(_one_line(error))
    except KeyboardInterrupt:
        fail("interrupted; nothing was written.", INTERRUPTED)
    except MemoryError:
        fail("not enough memory for this table; audit a part of it with --max-rows.", BAD_DATA)
    except Exception as error:
        from labelcut.errors import BadChoice, BadTable

        if isinstance(error, BadChoice | BadTable):
            fail(error.told(as_typed), WRONG_USE if isinstance(error, BadChoice) else BAD_DATA)
        if os.environ.get("LABELCUT_DEBUG"):
            raise
        what = " ".join(f"{type(error).__name__}: {error}".split())
        fail(f"a fault of LabelCut ({what}); LABELCUT_DEBUG=1 shows where, please report it.", OUR_FAULT)


def _one_line(error: click.ClickException) -> str:
    text = " ".join(error.format_message().split()).rstrip(".")
    return f"{text[:1].lower()}{text[1:]}; see labelcut --help."
