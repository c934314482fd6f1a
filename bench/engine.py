"""The verbs of the sweep engine: list, plan, run, status, show, retry, replay. Each is one function, told apart by its parser."""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, get_args

from sweeps.errors import EngineError
from sweeps.row import FAILURES

if TYPE_CHECKING:
    from sweeps.plan import Plan
    from sweeps.store import Store
    from sweeps.trial import Trial

Verbs: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
GPU_RATE = 5e12
"""Operations a second that one GPU is assumed to keep up: a third of a V100's peak in single precision."""
NOT_DONE = ("error", "out_of_memory", "timeout")


def add_list(verbs: Verbs) -> None:
    verb = _verb(verbs, "list", "every sweep, and how much of it the store holds")
    verb.set_defaults(run=list_sweeps)


def add_plan(verbs: Verbs) -> None:
    verb = _verb(verbs, "plan", "trials to run, trials cached, expected cost; runs nothing")
    _selection(verb)
    verb.set_defaults(run=plan_sweep)


def add_run(verbs: Verbs) -> None:
    verb = _verb(verbs, "run", "run what is missing of a sweep")
    _selection(verb)
    _execution(verb)
    verb.add_argument("--retry", metavar="OUTCOMES", default="", help="run these outcomes again, e.g. error,out_of_memory")
    verb.set_defaults(run=run_sweep)


def add_retry(verbs: Verbs) -> None:
    verb = _verb(verbs, "retry", f"run again what failed of a sweep ({', '.join(FAILURES)})")
    _selection(verb)
    _execution(verb)
    verb.set_defaults(run=run_sweep, retry=",".join(FAILURES))


def add_status(verbs: Verbs) -> None:
    verb = _verb(verbs, "status", "what the store holds, by sweep and outcome")
    verb.set_defaults(run=status)


def add_show(verbs: Verbs) -> None:
    verb = _verb(verbs, "show", "everything the store knows of one trial")
    verb.add_argument("id", metavar="ID", help="a trial's id, or the beginning of it")
    verb.set_defaults(run=show)


def add_replay(verbs: Verbs) -> None:
    verb = _verb(verbs, "replay", "run a stored trial again in this process and compare it with its row")
    verb.add_argument("id", metavar="ID", help="a trial's id, or the beginning of it")
    verb.add_argument("--data-dir", metavar="DIR", help="where data files lie (default: VERA_DATA, else ~/.cache/vera)")
    verb.set_defaults(run=replay)


def list_sweeps(arguments: argparse.Namespace) -> int:
    from sweeps.sweep import find_sweep, sweeps

    _declare()
    held = _store(arguments).outcomes()
    for name in sweeps.names():
        sweep = find_sweep(name)
        for profile in ("smoke", "laptop", "paper"):
            trials = sweep.trials(profile)
            done = sum(trial.id in held for trial in trials)
            print(f"{name:16} {profile:8} {done:>4} of {len(trials):<4} {sweep.about if profile == 'smoke' else ''}".rstrip())
    return 0


def plan_sweep(arguments: argparse.Namespace) -> int:
    plan = _plan(arguments)
    print(_summary(arguments, plan))
    for trial in plan.missing:
        seconds = plan.seconds.get(trial.id)
        cost = "cost unknown" if seconds is None else f"about {seconds:.0f} s"
        about = f"{trial.name:12} {trial.spec.dataset['name']:8} seed {trial.spec.seed:<4}"
        print(f"  {trial.id[:8]}  {about} {trial.spec.steps:,} steps   {cost}")
    return 0


def run_sweep(arguments: argparse.Namespace) -> int:
    plan = _plan(arguments)
    print(_summary(arguments, plan), flush=True)
    if arguments.dry_run:
        return 0
    if plan.missing:
        _execute(arguments, plan)
    outcomes = _store(arguments).outcomes()
    asked = [*plan.missing, *plan.cached]
    bad = [trial for trial in asked if outcomes.get(trial.id) in (None, *NOT_DONE)]
    for trial in bad:
        print(
            f"vera: {trial.name} seed {trial.spec.seed} ended as {outcomes.get(trial.id)}; see: vera show {trial.id[:8]}",
            file=sys.stderr,
        )
    print(f"{len(asked) - len(bad)} of {len(asked)} trials have their row in {arguments.results_dir}")
    return int(bool(bad))


def status(arguments: argparse.Namespace) -> int:
    counts: dict[tuple[str, str, str], int] = {}
    store = _store(arguments)
    for row in store.rows():
        key = (row.sweep or "-", row.profile, row.outcome)
        counts[key] = counts.get(key, 0) + 1
    for (name, profile, outcome), count in sorted(counts.items()):
        print(f"{name:16} {profile:8} {outcome:14} {count}")
    if not counts:
        print(f"No trials in {arguments.results_dir} yet. To begin: vera run toy-demo")
    for problem in store.problems:
        print(f"vera: {problem}", file=sys.stderr)
    return 0


def show(arguments: argparse.Namespace) -> int:
    for name, value in asdict(_store(arguments).row(arguments.id)).items():
        text = json.dumps(json.loads(value), indent=2, ensure_ascii=False) if value and str(value)[0] in "{[" else value
        print(f"{name:18} {text}")
    return 0


def replay(arguments: argparse.Namespace) -> int:
    from sweeps.attempt import Conditions
    from sweeps.replay import compare_with_replay

    row = _store(arguments).row(arguments.id)
    differences, seconds = compare_with_replay(row, Conditions(data_dir=arguments.data_dir, cpus=row.cpus, device=row.device))
    title = f"replayed {row.label} seed {row.seed} in {seconds:.0f} s"
    if not differences:
        print(f"{title}: identical to the stored row")
        return 0
    print(f"{title}: it differs")
    for line in differences:
        print(f"  {line}")
    return 1


def _execute(arguments: argparse.Namespace, plan: "Plan") -> None:
    from sweeps.attempt import Conditions
    from sweeps.execute import Engine, execute
    from sweeps.exports import Exports
    from sweeps.progress import Progress

    conditions = Conditions(
        data_dir=arguments.data_dir, device="auto", cpus=arguments.cpus_per_trial, gpus=arguments.gpus_per_trial,
        time_limit=arguments.time_limit, checkpoint_every=arguments.checkpoint_every,
    )  # fmt: skip
    folder = Path(arguments.results_dir)
    engine = Engine(
        folder / "trials", folder / "checkpoints", conditions, arguments.address, arguments.max_concurrent, arguments.verbose,
        tuple(arguments.plugin), Exports(arguments.tensorboard, arguments.mlflow, arguments.wandb),
    )  # fmt: skip
    progress = Progress(len(plan.missing), {trial.id: trial.spec.steps for trial in plan.missing})
    try:
        execute(plan.missing, engine, progress)
    except KeyboardInterrupt:
        raise EngineError(
            "Interrupted. What is finished is stored, what was running can go on: the same command runs the rest."
        ) from None
    finally:
        progress.close()


def _plan(arguments: argparse.Namespace) -> "Plan":
    from sweeps.plan import make_plan
    from sweeps.row import Outcome
    from vera.errors import SettingError
    from vera.settings import nearest

    store = _store(arguments)
    retry = [outcome.strip() for outcome in getattr(arguments, "retry", "").split(",") if outcome.strip()]
    for outcome in retry:
        if outcome not in get_args(Outcome):
            raise SettingError(f"--retry knows no outcome '{outcome}'.{nearest(outcome, list(get_args(Outcome)))}")
    return make_plan(_trials(arguments), store.outcomes(), store.rows(), retry)


def _trials(arguments: argparse.Namespace) -> "list[Trial]":
    from sweeps.sweep import find_sweep, matching

    _declare()
    seeds = None if arguments.seeds is None else range(arguments.seeds)
    trials = matching(find_sweep(arguments.sweep).trials(arguments.profile, seeds), arguments.only)
    if not trials:
        raise EngineError(f"No trial of {arguments.sweep} fits --only {' '.join(arguments.only)}.")
    return trials


def _declare() -> None:
    """Every table and figure is also a sweep of its name."""
    import bench.paper  # noqa: F401 (registers them)


def _summary(arguments: argparse.Namespace, plan: "Plan") -> str:
    about = _cost(arguments.sweep, plan) if plan.missing else ""
    total = len(plan.missing) + len(plan.cached)
    return f"{arguments.sweep} · {arguments.profile} profile · {total} trials · {len(plan.cached)} already done{about}"


def _cost(sweep: str, plan: "Plan") -> str:
    """From measured times where the store has any of such trials, else from counted operations at an assumed rate."""
    from sweeps.sweep import find_sweep

    seconds = plan.cost()
    if seconds is not None:
        return f" · about {seconds / 60:.1f} CPU-minutes"
    flop = find_sweep(sweep).flop
    counted = [flop(trial) for trial in plan.missing] if flop else [None]
    known = [work for work in counted if work is not None]
    if len(known) < len(counted):
        return ""
    return f" · about {sum(known) / GPU_RATE / 3600:.0f} GPU-hours at {GPU_RATE / 1e12:g} TFLOP/s"


def _store(arguments: argparse.Namespace) -> "Store":
    from sweeps.store import Store

    return Store(Path(arguments.results_dir) / "trials")


def _verb(verbs: Verbs, name: str, text: str) -> argparse.ArgumentParser:
    verb = verbs.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
    verb.add_argument("--results-dir", metavar="DIR", default="results/local", help="where the store lies (default: results/local)")
    verb.add_argument(
        "--plugin", metavar="FILE", action="append", default=[], help="a Python file that registers your own; repeatable"
    )
    return verb


def _selection(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("sweep", metavar="SWEEP", help="the name of a sweep (see: vera list)")
    verb.add_argument("--profile", choices=("smoke", "laptop", "paper"), default="laptop", help="budgets (default: laptop)")
    verb.add_argument(
        "--only", metavar="KEY=VALUE", action="append", default=[], help="only such trials, e.g. method=vera; repeatable"
    )
    verb.add_argument("--seeds", metavar="N", type=_count, help="seeds 0 to N-1 in place of the sweep's own")


def _execution(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--dry-run", action="store_true", help="say what would be run, and stop")
    verb.add_argument("--data-dir", metavar="DIR", help="where data files lie (default: VERA_DATA, else ~/.cache/vera)")
    verb.add_argument("--address", help="join this Ray cluster (default: RAY_ADDRESS, else start a local one)")
    verb.add_argument("--cpus-per-trial", type=float, default=1.0, metavar="N", help="CPUs, and threads, of a trial (default: 1)")
    verb.add_argument("--gpus-per-trial", type=float, default=0.0, metavar="N", help="GPUs of a trial, or a fraction of one")
    verb.add_argument("--max-concurrent", type=_count, metavar="N", help="at most so many trials at once")
    verb.add_argument("--time-limit", type=float, metavar="SECONDS", help="end a trial as a timeout after so long")
    verb.add_argument(
        "--checkpoint-every", type=float, default=30.0, metavar="SECONDS", help="how often a trial is saved (default: 30)"
    )
    verb.add_argument("--tensorboard", metavar="DIR", help="copy the histories there as TensorBoard event files")
    verb.add_argument("--mlflow", metavar="URI", help="copy the histories to this MLflow tracking store")
    verb.add_argument("--wandb", metavar="PROJECT", help="copy the histories to this Weights & Biases project")
    verb.add_argument("--verbose", action="store_true", help="show Ray Tune's own tables too")


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {value}")
    return value
