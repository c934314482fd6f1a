"""The store: rows, curves and arrays of finished trials as Parquet parts, in a directory or a bucket."""
