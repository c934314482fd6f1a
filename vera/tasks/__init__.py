"""Tasks: what a trial trains and what it measures at the end. Importing this package registers all of
them."""

from vera.tasks import density, images, joint, modes, studies

__all__ = ["density", "images", "joint", "modes", "studies"]
