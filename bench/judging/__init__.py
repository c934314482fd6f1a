"""From stored rows to judgements: cells with honest intervals, claims, and the rows of one profile."""
