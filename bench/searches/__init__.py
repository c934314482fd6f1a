"""What `vera search` can search for, and the tables and figures of searches."""
