"""What `connect` does to a file, as steps that can be applied, applied again, and taken back.

A `Step` is one change of one file: a member or list element of JSON, a table or a text of TOML, a region of Markdown.
`apply` makes the new text; where everything is there already it returns the old one. Each step leaves a *splice*
(place, what stood there, how much stands there now), so that `unsplice` gives back every byte while nobody has changed
the file; after that `revert` takes out what is ours and nothing else.

Ours is told by the command that it runs (`memory-magic`), never by its name alone: somebody else's server of our name
is a `FileStateError`, not ours to replace. Pure: text in, text out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from memory_magic.assistants import json_comments, regions, toml_edit
from memory_magic.errors import FileStateError

PUT, ADD, TABLE, REGION, RULES = "put", "add", "table", "region", "rules"
_PROGRAM: Final = re.compile(r"(?:^|[\\/])memory[-_]magic(?:\.exe)?$")
_HOOK: Final = re.compile(r"memory[-_]magic(?:\.exe)?['\"]?\s+(?:--\S+\s+)?hook\s")

Splice = tuple[int, str, int]
Bodies = Callable[[str], str]
"""Gives the text of an audience (`personal`, `workspace`) that a region holds now."""


@dataclass(frozen=True, slots=True)
class Step:
    """One change: *kind*, where in the file (*path*), the *value* there, for a region whose text it is (*audience*).

    A *value* of a region is what a new file begins with. *mark* tells a list element of ours that reads otherwise; a
    member with one is ours by its very name.
    """

    kind: str
    path: tuple[str, ...] = ()
    value: Any = None
    audience: str = ""
    mark: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the step for the record of what was connected."""
        return {name: getattr(self, name) for name in self.__slots__} | {"path": list(self.path)}

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Step:
        """Return the step that a record holds."""
        return cls(
            str(found["kind"]),
            tuple(str(one) for one in found["path"]),
            found["value"],
            str(found["audience"]),
            str(found["mark"]),
        )


@dataclass(frozen=True, slots=True)
class Applied:
    """A text after all steps, what each of them replaced, and the groups that had to be made."""

    text: str
    splices: tuple[Splice, ...] = ()
    made: tuple[tuple[str, ...], ...] = ()


def apply(text: str, steps: Sequence[Step], bodies: Bodies, name: str) -> Applied:
    """Return *text* with every one of *steps*; *name* is the file's, for errors."""
    splices: list[Splice] = []
    made: list[tuple[str, ...]] = []
    for step in steps:
        missing = _missing(text, step, name)
        new = _APPLY[step.kind](text, step, bodies, name)
        if new != text:
            splices.append(splice(text, new))
            made += [one for one in missing if one not in made]
        text = new
    return Applied(text, tuple(splices), tuple(made))


def revert(text: str, steps: Sequence[Step], made: Sequence[tuple[str, ...]], name: str) -> str:
    """Return *text* without what is ours, and without the groups of *made* that are empty then."""
    for step in reversed(steps):
        text = _REVERT[step.kind](text, step, name)
    for path in sorted(made, key=len, reverse=True):
        if _is_toml(steps):
            text = toml_edit.drop_empty_header(text, path, name)
        elif json_comments.find(json_comments.value_of(text, name), path) in ({}, []):
            text = json_comments.drop(text, path, name)
    return text


def _is_toml(steps: Sequence[Step]) -> bool:
    return any(step.kind in {TABLE, RULES} for step in steps)


def splice(old: str, new: str) -> Splice:
    """Return the one stretch in which two texts differ: place, what stood there, length of what does now."""
    most = min(len(old), len(new))
    start = next((at for at in range(most) if old[at] != new[at]), most)
    end = next((at for at in range(most - start) if old[-1 - at] != new[-1 - at]), most - start)
    return start, old[start : len(old) - end], len(new) - end - start


def unsplice(text: str, splices: Sequence[Splice]) -> str:
    """Return the text from before *splices*, if *text* is the one right after them."""
    for at, old, length in reversed(splices):
        text = text[:at] + old + text[at + length :]
    return text


def _missing(text: str, step: Step, name: str) -> list[tuple[str, ...]]:
    """Return the groups on the way to a step's place that are not there yet."""
    if step.kind == REGION:
        return []
    plain = toml_edit.value_of(text, name) if step.kind in {TABLE, RULES} else json_comments.value_of(text, name)
    ways = [step.path[:depth] for depth in range(1, len(step.path) + (step.kind == ADD))]
    return [way for way in ways if json_comments.find(plain, way) is None]


# -- steps ------------------------------------------------------------------------------------------------------------


def is_ours(value: Any) -> bool:
    """Tell whether a server's or hook's entry runs this program."""
    if not isinstance(value, Mapping):
        return False
    words = [value.get("command"), *(args if isinstance(args := value.get("args"), list) else [])]
    texts = [word for word in words if isinstance(word, str)]
    if any(_PROGRAM.search(word) or _HOOK.search(word) for word in texts):
        return True
    hooks = value.get("hooks")
    return isinstance(hooks, list) and bool(hooks) and all(is_ours(one) for one in hooks)


def _is_element_of_ours(value: Any, step: Step) -> bool:
    if value == step.value:
        return True
    return bool(step.mark) and is_ours(value) and step.mark in repr(value)


def _foreign(path: Sequence[str], name: str) -> FileStateError:
    return FileStateError(
        f"another entry has the name {'.'.join(path)} there; nothing was changed",
        where=name,
        hint="give it another name, then connect again",
    )


def _apply_put(text: str, step: Step, bodies: Bodies, name: str) -> str:  # noqa: ARG001 -- steps share a signature
    there = json_comments.find(json_comments.value_of(text, name), step.path)
    if there == step.value:
        return text
    if there is not None and not step.mark and not is_ours(there):
        raise _foreign(step.path, name)
    return json_comments.put(text, step.path, step.value, name)


def _apply_add(text: str, step: Step, bodies: Bodies, name: str) -> str:  # noqa: ARG001
    there = json_comments.find(json_comments.value_of(text, name), step.path)
    if there is not None and not isinstance(there, list):
        raise FileStateError(f"{'.'.join(step.path)} is no list there; nothing was changed", where=name)
    if step.value in (there or []):
        return text
    own = [at for at, one in enumerate(there or []) if _is_element_of_ours(one, step)]
    if own:
        return json_comments.replace_element(text, step.path, own[0], step.value, name)
    return json_comments.add(text, step.path, step.value, name)


def _apply_table(text: str, step: Step, bodies: Bodies, name: str) -> str:  # noqa: ARG001
    there = json_comments.find(toml_edit.value_of(text, name), step.path)
    if there == step.value:
        return text
    if there is not None and not is_ours(there):
        raise _foreign(step.path, name)
    return toml_edit.put_table(text, step.path, step.value, name)


def _apply_region(text: str, step: Step, bodies: Bodies, name: str) -> str:
    if not text and step.value:
        text = str(step.value)
    return regions.put(text, bodies(step.audience), name)


def _apply_rules(text: str, step: Step, bodies: Bodies, name: str) -> str:
    there = json_comments.find(toml_edit.value_of(text, name), step.path)
    if there is not None and not isinstance(there, str):
        raise FileStateError(f"{'.'.join(step.path)} is no text there; nothing was changed", where=name)
    new = regions.put(there or "", bodies(step.audience), name)
    return text if new == there else toml_edit.put_text(text, step.path, new, name)


def _revert_put(text: str, step: Step, name: str) -> str:
    there = json_comments.find(json_comments.value_of(text, name), step.path)
    mine = there is not None and (there == step.value or bool(step.mark) or is_ours(there))
    return json_comments.drop(text, step.path, name) if mine else text


def _revert_add(text: str, step: Step, name: str) -> str:
    there = json_comments.find(json_comments.value_of(text, name), step.path)
    for at in reversed(range(len(there) if isinstance(there, list) else 0)):
        if _is_element_of_ours(there[at], step):
            text = json_comments.take(text, step.path, at, name)
    return text


def _revert_table(text: str, step: Step, name: str) -> str:
    there = json_comments.find(toml_edit.value_of(text, name), step.path)
    return toml_edit.drop_table(text, step.path, name) if is_ours(there) or there == step.value else text


def _revert_region(text: str, step: Step, name: str) -> str:
    rest = regions.drop(text, name)
    return "" if step.value and rest.strip() == str(step.value).strip() else rest


def _revert_rules(text: str, step: Step, name: str) -> str:
    there = json_comments.find(toml_edit.value_of(text, name), step.path)
    if not isinstance(there, str) or regions.span(there, name) is None:
        return text
    rest = regions.drop(there, name)
    return toml_edit.put_text(text, step.path, rest, name) if rest else toml_edit.drop_text(text, step.path, name)


_APPLY: Final[dict[str, Callable[[str, Step, Bodies, str], str]]] = {
    PUT: _apply_put,
    ADD: _apply_add,
    TABLE: _apply_table,
    REGION: _apply_region,
    RULES: _apply_rules,
}
_REVERT: Final[dict[str, Callable[[str, Step, str], str]]] = {
    PUT: _revert_put,
    ADD: _revert_add,
    TABLE: _revert_table,
    REGION: _revert_region,
    RULES: _revert_rules,
}
