"""Labelled tables: the UCI sets of the paper, tables that install with scikit-learn, and user files."""
