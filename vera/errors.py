"""Errors that the user can fix. Each message says what is wrong, where, and what to do next.

The command line prints these without a traceback. Any other exception is a bug.
"""


class VeraError(Exception):
    """Base class of all errors that the user can fix."""


class UnknownName(VeraError, LookupError):
    """No method, model, data set or setting has this name."""


class SettingError(VeraError, ValueError):
    """A setting has the wrong type or is out of range."""


class IncompatibleModel(VeraError, TypeError):
    """The model lacks something that the method or task requires."""


class DataMissing(VeraError, FileNotFoundError):
    """A file of a data set is not in the data directory."""


class DataCorrupt(VeraError, ValueError):
    """A file of a data set differs from the published file."""


class CheckpointError(VeraError, ValueError):
    """A checkpoint cannot be read, or belongs to another run."""


class CallbackError(VeraError, RuntimeError):
    """A callback of the Trainer raised an exception. The run can be saved and continued."""


class ModelFileError(VeraError, ValueError):
    """A file is not a saved model, is damaged, or does not match the networks that it describes."""


class MissingExtra(VeraError, ImportError):
    """An optional package is not installed. The message names the extra that installs it."""


class PluginError(VeraError, ImportError):
    """A plug-in could not be loaded, or its code raised an exception."""
