"""Methods that train a generator beside the energy: VERA with three entropy gradients, MEG, CoopNet."""
