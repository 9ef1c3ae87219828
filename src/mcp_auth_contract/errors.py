"""The errors a user can meet, each one sentence that names the place and the repair."""


class KitError(Exception):
    """Base of every error that is told to the user in one line, without a traceback."""

    exit_code = 2


class UsageError(KitError):
    """A wrong command line: unknown check, missing file, port in use."""


class ContractError(KitError):
    """A faulty contract, catalogue or key file. The message names file, key, value and repair."""


class Unreachable(KitError):
    """Something that had to be observed could not be: no server at the URL, `start` died."""

    exit_code = 3


class Unwritable(KitError):
    """A report that could not be written after the run; the others were."""

    exit_code = 2
