"""What a wrong word may have been meant to be, in the words of every message about one."""

import difflib
from collections.abc import Iterable, Mapping


def suggest(word: str, known: Iterable[str], otherwise: str | None = None, written: str = "{}") -> str:
    """Return `did you mean "…"?` with the known word most like `word`.

    Where none is alike, it returns `otherwise`, by default the list of all known words. `written` is how a known word
    stands in a file, as in `${{{}}}` for a variable.
    """
    words = sorted(known)
    if alike := difflib.get_close_matches(word, words, n=1):
        return f'did you mean "{written.format(alike[0])}"?'
    return f"known are {', '.join(words)}" if otherwise is None else otherwise


def nearest(word: str, titles: Mapping[str, str], most: int = 3) -> tuple[str, ...]:
    """Return the names most like a word: those with it in the name, in the title, then the most similar ones."""
    asked = word.lower().strip("-")
    within = [name for name in sorted(titles) if asked and asked in name]
    about = [name for name in sorted(titles) if asked and asked in titles[name].lower()]
    alike = difflib.get_close_matches(asked, sorted(titles), n=most, cutoff=0.0)
    close = difflib.get_close_matches(asked, sorted(titles), n=most)
    return tuple(dict.fromkeys((*close, *within, *about, *alike)))[:most]
