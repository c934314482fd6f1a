"""Labelled images (CIFAR, SVHN) and the unseen sets on which its density is compared."""
