"""Tasks: what a trial trains for, and what is measured when it is done. Importing this package registers them
all."""

from vera.tasks import density, images, joint, modes, studies

__all__ = ["density", "images", "joint", "modes", "studies"]
