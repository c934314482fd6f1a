"""The search problems of `vera search`, and the table and the figure of stored searches."""
