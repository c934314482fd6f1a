"""MNIST in the forms used by the experiments: logit space, pixels, table rows, images, stacked triples."""
