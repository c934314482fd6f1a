"""Fixtures of the tests of data."""

from small_mnist import small_mnist as small_mnist
