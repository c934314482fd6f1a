"""MNIST in every form that the experiments use: logit space, pixels, table rows, images, stacked triples."""
