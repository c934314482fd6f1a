"""The report: all that a store holds, on one HTML page that needs no network. Loads neither torch nor ray."""
