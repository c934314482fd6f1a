"""Writes sheets and drawings to files and to the terminal. Reads Parquet only; imports neither torch nor
ray."""
