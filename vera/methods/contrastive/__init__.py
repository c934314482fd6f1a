"""Methods that contrast data with noise or noisy copies: NCE, SNL and energy discrepancy."""
