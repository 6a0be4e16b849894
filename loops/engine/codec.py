"""Engine values <-> JSON values, driven by the dataclasses themselves.

Empty fields whose default is empty are left out, so an entry stays small; any other default is
written, so that what was frozen does not move when a default does. Reading is strict: an unknown
field or a wrong shape raises ValueError, because a log that cannot be understood is unusable.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import StrEnum
from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

Json = Any  # what json.dumps takes
Read = Callable[[Any], Any]
Write = Callable[[Any], Any]


def to_json(value: Any) -> Json:
    """Dataclasses become objects, enums their words, tuples lists, mappings objects."""
    return _writer(cast(Hashable, type(value)))(value)


def from_json(kind: type[Any], data: Json, **given: Any) -> Any:
    """An instance of the dataclass `kind`; `given` are fields that `data` does not hold."""
    if not isinstance(data, dict):
        raise ValueError(f"{kind.__name__}: expected an object, got {type(data).__name__}.")
    readers = _readers(cast(Hashable, kind))
    unknown = data.keys() - readers.keys()
    if unknown:
        raise ValueError(f"{kind.__name__}: unknown fields {', '.join(sorted(unknown))}.")
    try:
        return kind(**{name: readers[name](item) for name, item in data.items()}, **given)
    except TypeError as error:
        raise ValueError(f"{kind.__name__}: {error}.") from error


@cache
def _writer(kind: Any) -> Write:
    if kind in (NoneType, str, int, float, bool):
        return lambda value: value
    if issubclass(kind, StrEnum):
        return {word: word.value for word in kind}.__getitem__
    if issubclass(kind, tuple):
        return lambda value: [to_json(item) for item in value]
    if issubclass(kind, Mapping):
        return lambda value: {str(key): to_json(item) for key, item in value.items()}
    return partial(_object, tuple((field.name, _empty_default(field)) for field in fields(kind)))


def _object(written: tuple[tuple[str, Any], ...], value: Any) -> Json:
    """written: (name, the empty default that may be left out, else MISSING, which equals none)."""
    return {
        name: to_json(item) for name, empty in written if (item := getattr(value, name)) != empty
    }


def _empty_default(field: Field[Any]) -> Any:
    default = field.default if field.default_factory is MISSING else field.default_factory()
    return MISSING if default else default


@cache
def _readers(kind: Hashable) -> dict[str, Read]:
    hints = get_type_hints(kind)
    return {field.name: _reader(hints[field.name]) for field in fields(cast(Any, kind))}


def _reader(hint: Any) -> Read:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        (inner,) = (argument for argument in arguments if argument is not NoneType)
        read = _reader(inner)
        return lambda data: None if data is None else read(data)
    if origin is tuple:
        return _tuple_reader(arguments)
    if origin is not None:  # a mapping with string keys
        read = _reader(arguments[1])
        return lambda data: {key: read(item) for key, item in _checked(data, dict).items()}
    if is_dataclass(hint):
        return lambda data: from_json(cast(type[Any], hint), data)
    if issubclass(hint, StrEnum):
        return cast(Read, hint)
    if hint is float:
        return lambda data: float(_checked(data, int, float))
    return lambda data: _checked(data, hint)


def _tuple_reader(arguments: tuple[Any, ...]) -> Read:
    if arguments[-1] is Ellipsis:
        read = _reader(arguments[0])
        return lambda data: tuple(read(item) for item in _checked(data, list))
    reads = [_reader(argument) for argument in arguments]
    return lambda data: tuple(
        read(item) for read, item in zip(reads, _checked(data, list), strict=True)
    )


def _checked(data: Any, *kinds: type[Any]) -> Any:
    if type(data) not in kinds:
        raise ValueError(f"expected {kinds[0].__name__}, got {type(data).__name__}.")
    return data
