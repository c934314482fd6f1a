"""How settings at `laptop` were chosen: notes of Tables 2, 3 and 6, read from the trials of their grids."""
