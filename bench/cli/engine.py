"""The engine that the flags describe: where trials run, and with which resources."""

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sweeps.cluster.engine import Engine


def build_engine(arguments: argparse.Namespace) -> "Engine":
    from sweeps.cluster.engine import Engine
    from sweeps.cluster.exports import Exports
    from sweeps.run.conditions import Conditions
    from sweeps.store.location import join_location

    pack_gpus = arguments.gpus_per_trial == "auto"
    return Engine(
        store=join_location(arguments.results_dir, "trials"),
        checkpoints=join_location(arguments.results_dir, "checkpoints"),
        conditions=Conditions(
            data_dir=arguments.data_dir,
            device="auto",
            cpus=arguments.cpus_per_trial,
            gpus=1.0 if pack_gpus else arguments.gpus_per_trial,
            time_limit=arguments.time_limit,
            checkpoint_every=arguments.checkpoint_every,
        ),
        address=arguments.address,
        max_concurrent=arguments.max_concurrent,
        verbose=arguments.verbose,
        plugins=tuple(arguments.plugin),
        exports=Exports(arguments.tensorboard, arguments.mlflow, arguments.wandb),
        pack_gpus=pack_gpus,
    )
