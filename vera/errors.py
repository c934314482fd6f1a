"""What a user can get wrong, each as one sentence that names the thing, the reason and the way on.

A command line prints these without a traceback; everything else that is raised is a bug.
"""


class VeraError(Exception):
    """Base of every error that is the caller's to mend."""


class UnknownName(VeraError, LookupError):
    """No method, model, data set or setting has that name."""


class SettingError(VeraError, ValueError):
    """A setting has the wrong type or lies outside its range."""


class IncompatibleModel(VeraError, TypeError):
    """The method needs something of the model that the model does not have."""


class DataMissing(VeraError, FileNotFoundError):
    """A file of a data set is not in the data directory."""


class DataCorrupt(VeraError, ValueError):
    """A file of a data set is there, but is not the file that was published."""


class CheckpointError(VeraError, ValueError):
    """A checkpoint cannot be read, or belongs to another run."""


class PluginError(VeraError, ImportError):
    """A plug-in named by the user could not be loaded, or failed when it was used."""
