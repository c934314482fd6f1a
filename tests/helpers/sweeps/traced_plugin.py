"""A plug-in for tests: maximum likelihood that records on which node each step ran, and waits for permission.

The file that ALLOWANCE names contains the number of steps that each node may take in total. A test can so
stop the cluster at a known point, however fast or slow the machine is.
"""

import os
import time
from pathlib import Path

import ray

from vera.methods.ml import MaximumLikelihood

plain_step = MaximumLikelihood.step


def traced_step(self, x):
    trace, node = Path(os.environ["TRACE"]), ray.get_runtime_context().get_node_id()
    while trace.exists() and trace.read_text().count(node) >= int(Path(os.environ["ALLOWANCE"]).read_text()):
        time.sleep(0.05)
    with trace.open("a") as file:
        file.write(node + "\n")
    return plain_step(self, x)


MaximumLikelihood.step = traced_step
