"""Fixtures of the tests of the command line."""

from small_mnist import small_mnist as small_mnist
