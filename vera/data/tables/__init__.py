"""Labelled tables: the UCI sets of the paper, tables that install with this package, and user files."""
