"""results/published, and the documentation that is generated from its rows."""
