"""The report: everything a store holds on one self-contained HTML page. Imports neither torch nor ray.

Python code prepares plain data; the Jinja2 templates in `templates/` lay it out.
"""
