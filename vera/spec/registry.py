"""Registries: methods, models and data sets by name, from this package or from outside it.

A plug-in is code, so it runs only when the user names it: a file given to `load_plugin`, or an installed
entry point (groups `vera.methods`, `vera.jointmethods`, `vera.models`, `vera.datasets`) whose own name is
asked for.
"""

import hashlib
import importlib.util
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Generic, TypeVar

from vera.errors import PluginError, UnknownName, VeraError
from vera.spec.settings import check_names, settings_of, suggest, suggest_or_list

T = TypeVar("T", bound=Callable[..., Any])

_plugins: dict[str, Path] = {}
"""Module → file, of the plug-ins that were loaded."""
_sources: dict[str, str] = {}
"""Module → a short hash of its file as it was when it was loaded, of plug-ins and of entry points."""


class Registry(Generic[T]):
    """Names to factories of one kind; an unknown name is answered with the nearest known ones. `home` is
    where ours are, `listing` the command that shows them."""

    def __init__(self, kind: str, home: str | None = None, listing: str = "") -> None:
        self.kind = kind
        self.group = f"vera.{kind.replace(' ', '')}s"
        self._home, self._listing = home, listing
        self._known: dict[str, T] = {}

    @property
    def _entries(self) -> dict[str, T]:
        """What is registered, after our own package of this kind has had its say."""
        if self._home is not None:
            import_module(self._home)
        return self._known

    def register(self, name: str) -> Callable[[T], T]:
        if not isinstance(name, str) or not name:
            raise VeraError(f"A {self.kind} needs a name, got {name!r}.")

        def add(factory: T) -> T:
            known = self._entries.get(name)
            if known is not None and not _same_definition(known, factory):
                file = getattr(sys.modules.get(factory.__module__), "__file__", None)
                raise VeraError(
                    f"The {self.kind} name '{name}' is taken by {known.__module__}.{known.__qualname__}: register "
                    f"{factory.__qualname__}{f' of {file}' if file else ''} under another name, such as 'my-{name}'."
                )
            self._entries[name] = factory
            return factory

        return add

    def get(self, name: str) -> T:
        if name not in self._entries:
            self._load_entry_point(name)
        if name not in self._entries:
            raise UnknownName(f"There is no {self.kind} '{name}'.{self._offer(name)}")
        return self._entries[name]

    def _offer(self, name: str) -> str:
        """What else there is; where a verb lists it, that verb in place of all names."""
        if not self._listing:
            return suggest_or_list(name, self.names())
        return f"{suggest(name, self.names())} To see them: {self._listing}"

    def create(self, name: str, **settings: Any) -> Any:
        factory = self.get(name)
        known = settings_of(factory)
        check_names(f"{self.kind} '{name}'", known, settings)
        missing = [s.name for s in known.values() if s.is_required and s.name not in settings]
        if missing:
            raise VeraError(f"The {self.kind} '{name}' needs {', '.join(missing)}.")
        with wrap_plugin_errors(f"making the {self.kind} '{name}'"):
            return factory(**settings)

    def name_of(self, factory: Any) -> str | None:
        return next((name for name, known in self._entries.items() if known is factory), None)

    def names(self) -> list[str]:
        return sorted({*self._entries, *(point.name for point in entry_points(group=self.group))})

    def plugin_names(self) -> list[str]:
        """What plug-ins have registered so far; loads nothing."""
        home = self._home or ""
        return sorted(
            name
            for name, factory in self._known.items()
            if not f"{factory.__module__}.".startswith(f"{home}.")
        )

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._entries))

    def _load_entry_point(self, name: str) -> None:
        for point in entry_points(group=self.group, name=name):
            try:
                factory = point.load()
            except Exception as error:
                raise PluginError(
                    f"The {self.kind} '{name}' of the plug-in {point.value} failed to load: {error}"
                ) from error
            self._entries.setdefault(name, factory)
            _note_source(factory.__module__, getattr(sys.modules.get(factory.__module__), "__file__", None))


def _same_definition(one: Any, other: Any) -> bool:
    """A file loaded twice defines the same thing twice; that is not a clash."""
    return bool((one.__module__, one.__qualname__) == (other.__module__, other.__qualname__))


methods: Registry[Any] = Registry("method", home="vera.methods")
joint_methods: Registry[Any] = Registry("joint method", home="vera.joint")
models: Registry[Any] = Registry("model", home="vera.models")
datasets: Registry[Any] = Registry("data set", home="vera.data", listing="vera data list")
unseen_sets: Registry[Any] = Registry("unseen set", home="vera.data.images.unseen")
estimators: Registry[Any] = Registry("estimator", home="vera.tasks.studies")
tasks: Registry[Any] = Registry("task", home="vera.tasks")


def load_plugin(path: str | Path) -> None:
    """Run a Python file that registers methods, models or data sets of the user's own."""
    if Path(path).is_dir():
        raise PluginError(
            f"The plug-in '{path}' is {'a directory' if str(path) else 'no file'}: name a Python file."
        )
    path = Path(path)
    if not path.is_file():
        raise PluginError(f"There is no plug-in file {path}.")
    name = f"vera_plugin_{path.stem}_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise PluginError(f"{path} is not a Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    _note_source(name, path)
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, VeraError | KeyboardInterrupt):
            raise
        raise PluginError(
            f"The plug-in {path} failed{_where(error, path)}: {type(error).__name__}: {error}"
        ) from error
    _plugins[name] = path
    _check_registered(path, name)


@contextmanager
def wrap_plugin_errors(doing: str) -> Iterator[None]:
    """What goes wrong in a plug-in's own lines is one sentence of which, where and why; what goes wrong in
    ours stays a bug."""
    try:
        yield
    except (VeraError, MemoryError):
        raise
    except Exception as error:
        for path in _plugins.values():
            if line := _where(error, path):
                why = " ".join(f"{type(error).__name__}: {error}".split())
                raise PluginError(f"The plug-in {path} failed{line}, {doing}: {why}") from error
        raise


def find_plugin_file(factory: Any) -> Path | None:
    """The file that defines it, where that is a plug-in."""
    return _plugins.get(getattr(factory, "__module__", ""))


def find_source_hash(factory: Any) -> str:
    """A short hash of the file that defines it, where that is a plug-in's; else empty."""
    return _sources.get(getattr(factory, "__module__", ""), "")


def _note_source(module: str, file: str | Path | None) -> None:
    if file is not None:
        with suppress(OSError):  # code in an archive has no file
            _sources[module] = hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16]


def _where(error: BaseException, path: Path) -> str:
    """The last line of the plug-in that was at work."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename).resolve() == path.resolve()]
    return f" in line {lines[-1]}" if lines else ""


def find_unregistered_classes(path: str | Path) -> list[str]:
    """The names of classes that a plug-in defines, that could train, and that nobody can ask for: a decorator
    may be missing."""
    modules = [name for name, own in _plugins.items() if own == Path(path)]
    defined = [
        one
        for name in modules
        for one in vars(sys.modules[name]).values()
        if getattr(one, "__module__", "") == name
    ]
    known = [
        factory for registry in (methods, joint_methods, estimators) for factory in registry._known.values()
    ]
    return [
        one.__name__
        for one in defined
        if isinstance(one, type) and hasattr(one, "network_names") and not getattr(one, "__abstractmethods__", ())
        and not any(isinstance(factory, type) and issubclass(factory, one) for factory in known)
    ]  # fmt: skip


def _check_registered(path: Path, module: str) -> None:
    """What it calls a method must be one, and no class may lack a part; say so at once, not when a table asks
    for it."""
    for registry in (methods, joint_methods, models, datasets, unseen_sets, estimators, tasks):
        for name, factory in list(registry._known.items()):
            wrong = (
                _wrong_with(factory, registry in (methods, joint_methods))
                if factory.__module__ == module
                else ""
            )
            if wrong:
                del registry._known[name]
                raise PluginError(
                    f"The plug-in {path} registers the {registry.kind} '{name}', but {factory.__qualname__} {wrong}."
                )


def _wrong_with(factory: Any, is_method: bool) -> str:
    """Why nothing can be made of it; nothing if something can."""
    wrong = (
        (_no_method(factory) if is_method else "")
        or _unresolved(factory)
        or (factory.misdeclared() if is_method else "")
    )
    lacking = sorted(getattr(factory, "__abstractmethods__", ()))
    return wrong or (f"lacks {' and '.join(lacking)}: see {_contract(factory)}" if lacking else "")


def _unresolved(factory: Any) -> str:
    """An annotation in quotes is not looked at by Python, so it may name anything."""
    try:
        settings_of(factory)
    except Exception as error:
        return f"has an annotation that means nothing ({type(error).__name__}: {error}): define or import what it names"
    return ""


def _contract(factory: type) -> str:
    """The class that asks for what it lacks."""
    asking = next(kind for kind in factory.__mro__[1:] if getattr(kind, "__abstractmethods__", ()))
    return f"{asking.__module__}.{asking.__qualname__}"


def _no_method(factory: Any) -> str:
    """Why it is no method; nothing if it is one."""
    contract = import_module("vera.methods.contract").Method
    if not (isinstance(factory, type) and issubclass(factory, contract)):
        return "is no class derived from vera.methods.Method"
    return "" if "__dataclass_fields__" in vars(factory) else "lacks the decorator @dataclass(eq=False)"
