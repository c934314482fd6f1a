"""The artifacts of the demo by name. Its sweep is declared in `sweeps.trial.sweep`."""

PREFIX = ""

ARTIFACTS = {
    "toy-demo": "bench.demo.toy_demo:DemoTable",
    "toy-demo-density": "bench.demo.toy_demo:DemoFigure",
}

UNLISTED = ("toy-demo-density",)
"""It is not a sweep: it shows the trials of toy-demo."""
