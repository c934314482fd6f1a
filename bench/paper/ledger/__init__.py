"""The ledger: everything that the paper says, where it is declared here, and what became of it."""
