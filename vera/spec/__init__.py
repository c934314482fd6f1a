"""A trial as plain data: its spec, the validation of settings, and the registries that names are looked up
in."""
