"""Sheets and drawings written to files. Reads Parquet only; loads neither torch nor ray."""
