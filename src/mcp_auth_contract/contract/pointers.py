"""JSON Pointers (RFC 6901) into what a server answered."""

from jsonpointer import EndOfList, JsonPointer, JsonPointerException


def is_pointer(text: str) -> bool:
    """Whether a text is a JSON Pointer to something below the root."""
    try:
        return bool(JsonPointer(text).parts)
    except JsonPointerException:
        return False


def pointed_at(document: object, pointer: str) -> object | None:
    """Return what a JSON Pointer leads to in a JSON document; None where it leads nowhere or is none."""
    found = document
    try:
        path = JsonPointer(pointer)
        for part in path.parts:
            if isinstance(found, str):  # jsonpointer 3.1 takes a text for a list of characters
                return None
            found = path.walk(found, part)
    except (JsonPointerException, ValueError):  # an index may have more digits than Python reads
        return None
    return None if isinstance(found, EndOfList) else found
