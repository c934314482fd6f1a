"""The command line: shared flags and error handling here, one file per verb in `verbs/`."""
