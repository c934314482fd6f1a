"""Methods newer than the VERA paper beside VERA and what came before it, on the same tasks. There is no paper
to compare with, so there is no `paper` profile."""
