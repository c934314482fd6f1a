"""Registries of methods, models, data sets and tasks by name, and the plug-ins that add to them.

A plug-in is code, so it runs only when the user names it: either its file is passed to `load_plugin`, or a
name is looked up that an installed entry point provides (groups `vera.methods`, `vera.jointmethods`,
`vera.models`, `vera.datasets`).
"""

import hashlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoints, entry_points
from pathlib import Path
from typing import Any, Generic, TypeVar

from vera.errors import PluginError, UnknownName, VeraError
from vera.spec.settings import check_names, settings_of, suggest, suggest_or_list

T = TypeVar("T", bound=Callable[..., Any])

_plugins: dict[str, Path] = {}
"""Module name → file, for the plug-ins loaded by `load_plugin`."""
_sources: dict[str, str] = {}
"""Module name → short hash of its file at load time, for plug-in files and entry points."""


class Registry(Generic[T]):
    """Maps names to factories of one kind. An unknown name raises `UnknownName` with the closest known names.

    `home` is the package whose import registers the built-in entries, `listing` the command that lists them.
    """

    def __init__(self, kind: str, home: str | None = None, listing: str = "") -> None:
        self.kind = kind
        self.group = f"vera.{kind.replace(' ', '')}s"
        self._home, self._listing = home, listing
        self._known: dict[str, T] = {}

    @property
    def _entries(self) -> dict[str, T]:
        """All registered factories, built-in ones included."""
        if self._home is not None:
            import_module(self._home)
        return self._known

    def register(self, name: str) -> Callable[[T], T]:
        """Return a decorator that registers a factory; a name that is already taken raises `VeraError`."""
        if not isinstance(name, str) or not name:
            raise VeraError(f"A {self.kind} needs a name, got {name!r}.")

        def add(factory: T) -> T:
            known = self._entries.get(name)
            if known is not None and not _same_definition(known, factory):
                file = getattr(sys.modules.get(factory.__module__), "__file__", None)
                origin = f" of {file}" if file else ""
                raise VeraError(
                    f"The {self.kind} name '{name}' is taken by {known.__module__}.{known.__qualname__}: "
                    f"register {factory.__qualname__}{origin} under another name, such as 'my-{name}'."
                )
            self._entries[name] = factory
            return factory

        return add

    def get(self, name: str) -> T:
        """The factory of that name; loads the entry point that provides it, if there is one."""
        if name not in self._entries:
            self._load_entry_point(name)
        if name not in self._entries:
            raise UnknownName(f"There is no {self.kind} '{name}'.{self._suggest(name)}")
        return self._entries[name]

    def _suggest(self, name: str) -> str:
        """Close names, or else all names; with a listing command, that command in place of all names."""
        if not self._listing:
            return suggest_or_list(name, self.names())
        return f"{suggest(name, self.names())} To see them: {self._listing}"

    def create(self, name: str, **settings: Any) -> Any:
        """Call the factory of that name, after checking that the settings exist and are complete."""
        factory = self.get(name)
        known = settings_of(factory)
        check_names(f"{self.kind} '{name}'", known, settings)
        missing = [s.name for s in known.values() if s.is_required and s.name not in settings]
        if missing:
            raise VeraError(f"The {self.kind} '{name}' needs {', '.join(missing)}.")
        with wrap_plugin_errors(f"creating the {self.kind} '{name}'"):
            return factory(**settings)

    def name_of(self, factory: Any) -> str | None:
        """The name under which the factory is registered."""
        return next((name for name, known in self._entries.items() if known is factory), None)

    def names(self) -> list[str]:
        """All names, including those of entry points that are not loaded yet."""
        points = _find_entry_points(self.group, tuple(sys.path))
        return sorted({*self._entries, *(point.name for point in points)})

    def plugin_names(self) -> list[str]:
        """The names that plug-ins have registered so far. Loads no entry point."""
        home = self._home or ""
        return sorted(
            name
            for name, factory in self._known.items()
            if not f"{factory.__module__}.".startswith(f"{home}.")
        )

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._entries))

    def _load_entry_point(self, name: str) -> None:
        for point in _find_entry_points(self.group, tuple(sys.path)):
            if point.name != name:
                continue
            try:
                factory = point.load()
            except Exception as error:
                raise PluginError(
                    f"The {self.kind} '{name}' of the plug-in {point.value} failed to load: {error}"
                ) from error
            self._entries.setdefault(name, factory)
            _record_source_hash(
                factory.__module__, getattr(sys.modules.get(factory.__module__), "__file__", None)
            )


@cache
def _find_entry_points(group: str, path: tuple[str, ...]) -> EntryPoints:
    """The entry points of a group, searched once per `sys.path`: a search opens every installed package."""
    return entry_points(group=group)


def _same_definition(one: Any, other: Any) -> bool:
    """Whether both come from the same definition. Loading a file twice is not a clash of names."""
    return bool((one.__module__, one.__qualname__) == (other.__module__, other.__qualname__))


methods: Registry[Any] = Registry("method", home="vera.methods")
joint_methods: Registry[Any] = Registry("joint method", home="vera.joint")
models: Registry[Any] = Registry("model", home="vera.models")
datasets: Registry[Any] = Registry("data set", home="vera.data", listing="vera data list")
unseen_sets: Registry[Any] = Registry("unseen set", home="vera.data.images.unseen")
estimators: Registry[Any] = Registry("estimator", home="vera.tasks.studies")
tasks: Registry[Any] = Registry("task", home="vera.tasks")


def load_plugin(path: str | Path) -> None:
    """Run a Python file that registers the user's own methods, models or data sets."""
    if not str(path):
        raise PluginError("The path of the plug-in is empty: name a Python file.")
    path = Path(path)
    if os.path.isdir(path):
        raise PluginError(f"The plug-in '{path}' is a directory: name a Python file.")
    if not os.path.isfile(path):  # unlike Path.is_file, False for an impossible path
        raise PluginError(f"There is no plug-in file {path}.")
    name = f"vera_plugin_{path.stem}_{hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise PluginError(f"{path} is not a Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    _record_source_hash(name, path)
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, VeraError | KeyboardInterrupt):
            raise
        raise PluginError(
            f"The plug-in {path} failed{_locate_error(error, path)}: {type(error).__name__}: {error}"
        ) from error
    _plugins[name] = path
    _check_registered(path, name)


@contextmanager
def wrap_plugin_errors(doing: str) -> Iterator[None]:
    """Turn an exception raised in a plug-in's code into a `PluginError` that names file, line and `doing`.

    Other exceptions pass unchanged.
    """
    try:
        yield
    except (VeraError, MemoryError):
        raise
    except Exception as error:
        for path in _plugins.values():
            if line := _locate_error(error, path):
                reason = " ".join(f"{type(error).__name__}: {error}".split())
                raise PluginError(f"The plug-in {path} failed{line}, {doing}: {reason}") from error
        raise


def find_plugin_file(factory: Any) -> Path | None:
    """The plug-in file that defines the factory; None if no plug-in does."""
    return _plugins.get(getattr(factory, "__module__", ""))


def find_source_hash(factory: Any) -> str:
    """A short hash of the plug-in file that defines the factory; empty if no plug-in does."""
    return _sources.get(getattr(factory, "__module__", ""), "")


def _record_source_hash(module: str, file: str | Path | None) -> None:
    if file is not None:
        with suppress(OSError):  # code inside an archive has no file
            _sources[module] = hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16]


def _locate_error(error: BaseException, path: Path) -> str:
    """The last line of this file in the traceback, as " in line 3"; empty if there is none."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename).resolve() == path.resolve()]
    return f" in line {lines[-1]}" if lines else ""


def find_unregistered_classes(path: str | Path) -> list[str]:
    """Names of complete method classes that a loaded plug-in defines but does not register, usually because a
    decorator is missing."""
    modules = [name for name, file in _plugins.items() if file == Path(path)]
    defined = [
        value
        for name in modules
        for value in vars(sys.modules[name]).values()
        if isinstance(value, type) and value.__module__ == name
    ]
    registered = [
        factory
        for registry in (methods, joint_methods, estimators)
        for factory in registry._known.values()
        if isinstance(factory, type)
    ]
    return [
        cls.__name__
        for cls in defined
        if hasattr(cls, "network_names")
        and not getattr(cls, "__abstractmethods__", ())
        and not any(issubclass(factory, cls) for factory in registered)
    ]


def _check_registered(path: Path, module: str) -> None:
    """Raise `PluginError`, and remove the entry, if the plug-in registered something that cannot be used."""
    for registry in (methods, joint_methods, models, datasets, unseen_sets, estimators, tasks):
        added = [(name, each) for name, each in registry._known.items() if each.__module__ == module]
        for name, factory in added:
            if problem := _find_problem(factory, is_method=registry in (methods, joint_methods)):
                del registry._known[name]
                raise PluginError(
                    f"The plug-in {path} registers the {registry.kind} '{name}', "
                    f"but {factory.__qualname__} {problem}."
                )


def _find_problem(factory: Any, is_method: bool) -> str:
    """Why the factory cannot be used; empty if it can."""
    problem = (
        (_find_class_problem(factory) if is_method else "")
        or _find_annotation_problem(factory)
        or (factory.find_declaration_error() if is_method else "")
    )
    missing = sorted(getattr(factory, "__abstractmethods__", ()))
    return problem or (f"lacks {' and '.join(missing)}: see {_find_contract(factory)}" if missing else "")


def _find_class_problem(factory: Any) -> str:
    """Why the factory is not a method class; empty if it is one."""
    contract = import_module("vera.methods.contract").Method
    if not (isinstance(factory, type) and issubclass(factory, contract)):
        return "is not a subclass of vera.methods.Method"
    return "" if "__dataclass_fields__" in vars(factory) else "lacks the decorator @dataclass(eq=False)"


def _find_annotation_problem(factory: Any) -> str:
    """Python does not evaluate annotations in quotes, so an undefined name shows only here."""
    try:
        settings_of(factory)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        return f"has an annotation that cannot be resolved ({reason}): define or import its names"
    return ""


def _find_contract(factory: type) -> str:
    """The base class that declares the abstract methods."""
    contract = next(cls for cls in factory.__mro__[1:] if getattr(cls, "__abstractmethods__", ()))
    return f"{contract.__module__}.{contract.__qualname__}"
