"""What a wrong word may have been meant to be, in the words of every message about one."""

import difflib
from collections.abc import Iterable


def suggest(word: str, known: Iterable[str], otherwise: str | None = None, written: str = "{}") -> str:
    """Return `did you mean "…"?` with the known word most like `word`.

    Where none is alike, it returns `otherwise`, by default the list of all known words. `written` is how a known word
    stands in a file, as in `${{{}}}` for a variable.
    """
    words = sorted(known)
    if alike := difflib.get_close_matches(word, words, n=1):
        return f'did you mean "{written.format(alike[0])}"?'
    return f"known are {', '.join(words)}" if otherwise is None else otherwise
