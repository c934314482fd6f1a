"""The documentation site: pages from the whole repository, links between them, formulas without scripts.

`mkdocs.yml` names `hooks.py`, which MkDocs calls while it builds. The site needs no other host.
"""
