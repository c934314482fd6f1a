"""Opening the folder at a location, a directory or a bucket."""

from pathlib import Path

from sweeps.store.bucket_folder import BucketFolder
from sweeps.store.folder import Folder
from sweeps.store.local_folder import LocalFolder
from sweeps.store.location import Location, check_location, is_url


def open_folder(location: Location, create: bool = True, needed: bool = True) -> Folder:
    """The folder at the location; StoreError if the location cannot be used. A directory that does not exist
    is created, or else is an error if `needed` and an empty folder if not."""
    check_location(location)
    return BucketFolder(str(location)) if is_url(location) else LocalFolder(Path(location), create, needed)
