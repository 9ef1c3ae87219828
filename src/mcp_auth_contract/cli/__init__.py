"""The command line: one line for each fault of the user's, a traceback only for a fault of the kit's."""

import sys
from collections.abc import Sequence

from mcp_auth_contract import __version__
from mcp_auth_contract.cli.streams import forgive, release

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code (0 open, 1 failed, 2 wrong use, 3 inconclusive, 4 kit error)."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    forgive()
    if words == ["--version"]:  # answered before anything heavy is imported
        try:
            sys.stdout.write(f"mcp-auth-contract {__version__}\n")
            sys.stdout.flush()
        except OSError as fault:
            release()
            sys.stderr.write(f"mcp-auth-contract: standard output cannot be written: {fault.strerror}\n")
            return 0 if isinstance(fault, BrokenPipeError) else 3
        return 0
    from mcp_auth_contract.cli.app import call, cannot_write

    code = call(words, of_process=arguments is None)
    unwritten = release()
    return code if unwritten is None else cannot_write(unwritten)
