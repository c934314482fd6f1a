"""The sweep layer: what a trial is, where its row is kept, how missing trials run."""
