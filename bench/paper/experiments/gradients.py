"""Gradients in a training step, counted on the flow of Table 2 by hooks after one step of training.

The paper counts the sequential gradients of the HMC regulariser (Sec. 4.1); the counts do not depend on the
size of the networks. PCD's number of Langevin steps at `laptop` is not that of `paper`.
"""

from dataclasses import replace

from bench.paper.experiments.nice import CONTROL, LINES, SCALES, FlowExperiment

GRADIENTS = FlowExperiment(
    "gradients",
    tuple(
        replace(line, gflop=None, reference=None)
        for line in LINES
        if line.label != CONTROL and ("generator" in line.roles or line.label == "PCD")
    ),
    {
        profile: replace(
            scale,
            about=f"batches of {scale.batch_size}",
            steps=1,
            evaluations=0,
            task="gradient-count",
            seeds=(0,),
        )
        for profile, scale in SCALES.items()
    },
    registry=None,
)
