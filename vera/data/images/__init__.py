"""Labelled images (CIFAR, SVHN) and the unseen sets that a model is compared on."""
