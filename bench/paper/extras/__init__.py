"""Tables and figures that go beyond the paper's own, on its experiments."""
