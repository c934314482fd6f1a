"""What a command means: which trials, data sets, artifacts and stores its flags name."""
