"""The verbs of the sweep engine: list, plan, run, status, show, retry, replay. Each is one function, told apart by its parser."""

import argparse
import json
import shlex
import sys
from collections import Counter
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, get_args

from bench.costs import counted, own_cores, plan_cost, published_seconds, trial_cost
from bench.flags import DEFAULT_PROFILE, LOCAL, PROFILES, Verbs, execution, selection, shown_place, verb
from bench.selecting import asked_trials, flop_of, needs_none, origin, stored_trial
from sweeps.errors import EngineError
from sweeps.row import FAILURES
from vera.errors import UnknownName

if TYPE_CHECKING:
    from sweeps.execute import Engine
    from sweeps.plan import Plan
    from sweeps.row import Row
    from sweeps.store import Store

PROFILE, DATASET, PLACE, PLUGIN = "--profile", "--dataset", "--results-dir", "--plugin"
USUAL = {PROFILE: DEFAULT_PROFILE, PLACE: LOCAL}
JSON_COLUMNS = ("metrics", "restarts", "spec", "versions")


def add_list(verbs: Verbs) -> None:
    parser = verb(verbs, "list", "every sweep, and how much of it the store holds")
    parser.set_defaults(run=list_sweeps)


def add_plan(verbs: Verbs) -> None:
    parser = verb(verbs, "plan", "trials to run, trials cached, expected cost; runs nothing")
    selection(parser)
    parser.set_defaults(run=plan_sweep)


def add_run(verbs: Verbs) -> None:
    parser = verb(verbs, "run", "run what is missing of a sweep")
    selection(parser)
    execution(parser)
    parser.add_argument("--retry", metavar="OUTCOMES", default="", help="run these outcomes again, e.g. error,out_of_memory")
    parser.set_defaults(run=run_sweep)


def add_retry(verbs: Verbs) -> None:
    parser = verb(verbs, "retry", f"run a sweep, and again what failed of it ({', '.join(FAILURES)})")
    selection(parser)
    execution(parser)
    parser.set_defaults(run=run_sweep, retry=",".join(FAILURES))


def add_status(verbs: Verbs) -> None:
    parser = verb(verbs, "status", "what the store holds, by sweep and outcome")
    parser.set_defaults(run=status)


def add_show(verbs: Verbs) -> None:
    parser = verb(verbs, "show", "everything the store knows of one trial")
    parser.add_argument("id", metavar="ID", help="a trial's id, or the beginning of it")
    parser.set_defaults(run=show)


def add_replay(verbs: Verbs) -> None:
    parser = verb(verbs, "replay", "run a stored trial again in this process and compare it with its row")
    parser.add_argument("id", metavar="ID", help="a trial's id, or the beginning of it")
    parser.add_argument("--data-dir", metavar="DIR", help="where data files lie (default: VERA_DATA, else ~/.cache/vera)")
    parser.set_defaults(run=replay)


def list_sweeps(arguments: argparse.Namespace) -> int:
    import bench.paper  # noqa: F401 (every table and figure is also a sweep of its name)
    from sweeps.sweep import find_sweep, sweeps
    from vera.settings import by_number

    held = _store(arguments).outcomes()
    names = sorted(sweeps.names(), key=by_number)
    for name in names:
        sweep = find_sweep(name)
        trials = {profile: sweep.trials(profile) for profile in PROFILES}
        counts = {profile: f"{sum(trial.id in held for trial in of)}/{len(of)}" for profile, of in trials.items()}
        told = (
            "  ".join(f"{profile} {count:<7}" for profile, count in counts.items()) if any(trials.values()) else "needs no trials"
        )
        print(f"{name:{max(map(len, names))}}  {told:43}  {sweep.about}")
    return 0


def plan_sweep(arguments: argparse.Namespace) -> int:
    if needs_none(arguments):
        return _nothing_to_run(arguments)
    plan = _plan(arguments)
    print(_summary(arguments, plan))
    for trial in plan.missing:
        cost = trial_cost(flop_of(arguments.sweep), trial, plan.seconds.get(trial.id))
        about = f"{trial.name:12} {trial.spec.dataset['name']:8} seed {trial.spec.seed:<4}"
        print(f"  {trial.id[:8]}  {about} {counted(trial.spec.steps, 'step')}   {cost}")
    return 0


def run_sweep(arguments: argparse.Namespace) -> int:
    from bench.reuse import take

    if needs_none(arguments):
        return _nothing_to_run(arguments)
    plan = _plan(arguments)
    print(_summary(arguments, plan), flush=True)
    if arguments.dry_run:
        return 0
    if plan.elsewhere:
        take(plan, _store(arguments))
    if plan.missing:
        _execute(arguments, plan)
    outcomes = _store(arguments).outcomes()
    asked = [*plan.missing, *plan.elsewhere, *plan.cached]
    bad = [trial for trial in asked if outcomes.get(trial.id) in (None, *FAILURES)]
    for trial in bad:
        see = shlex.join(["vera", "show", trial.id[:8], *_kept(arguments, PLACE)])
        print(f"vera: {trial.name} seed {trial.spec.seed} ended as {outcomes.get(trial.id)}; see: {see}", file=sys.stderr)
    way_on = f"{_once_more(arguments) if bad else ''}{_way_on(arguments)}"
    print(f"{len(asked) - len(bad)} of {len(asked)} trials are done and in {arguments.results_dir}{way_on}")
    return int(bool(bad))


def _nothing_to_run(arguments: argparse.Namespace) -> int:
    print(f"{arguments.sweep} needs no trials{_way_on(arguments)}")
    return 0


def _way_on(arguments: argparse.Namespace) -> str:
    """How to look at it: as a table or a figure where it is one, else on the page of all trials."""
    from bench.artifact import artifacts

    if arguments.sweep in artifacts.known:
        return f"; to see it: {shlex.join(['vera', 'render', arguments.sweep, *_kept(arguments, PROFILE, DATASET, PLACE, PLUGIN)])}"
    return f"; to see it: {shlex.join(['vera', 'report', *_kept(arguments, PLACE, PLUGIN)])}"


def _once_more(arguments: argparse.Namespace) -> str:
    flags = _kept(arguments, PROFILE, "--only", "--seeds", DATASET, PLACE, PLUGIN)
    return f"; to run again what failed: {shlex.join(['vera', 'retry', arguments.sweep, *flags])}"


def _kept(arguments: argparse.Namespace, *flags: str) -> list[str]:
    """Those of the flags that were not left at their default, as another command must repeat them."""
    words = []
    for flag in flags:
        value = getattr(arguments, flag.removeprefix("--").replace("-", "_"))
        own = flag == PROFILE and ":" in arguments.sweep  # a single trial brings its profile along
        if value not in (None, USUAL.get(flag)) and not own:
            words += [word for each in (value if isinstance(value, list) else [value]) for word in (flag, str(each))]
    return words


def status(arguments: argparse.Namespace) -> int:
    counts: dict[tuple[str, str, str], int] = {}
    store = _store(arguments)
    for row in store.rows():
        key = (row.sweep or "-", row.profile, row.outcome)
        counts[key] = counts.get(key, 0) + 1
    for (name, profile, outcome), count in sorted(counts.items()):
        print(f"{name:16} {profile:8} {outcome:14} {count}")
    if not counts:
        print(f"No trials in {arguments.results_dir} yet. To begin: vera run toy-demo{shown_place(arguments)}")
    _name_problems(store)
    return 0


def show(arguments: argparse.Namespace) -> int:
    row, store = stored_trial(arguments.id, _store(arguments))
    if from_where := origin(store):
        print(f"{row.trial_id}{from_where}")
    for name, value in asdict(row).items():
        text = json.dumps(json.loads(value), indent=2, ensure_ascii=False) if name in JSON_COLUMNS else value
        print(f"{name:18} {text}")
    curves = Counter((point.kind, point.metric) for point in store.curves(row.trial_id))
    for (kind, metric), points in sorted(curves.items()):
        print(f"curve              {metric}, {kind}, {points} points")
    for name, array in sorted(store.arrays(row.trial_id).items()):
        print(f"array              {name}, {array.dtype} {list(array.shape)}")
    _name_problems(store)
    return 0


def replay(arguments: argparse.Namespace) -> int:
    from sweeps.attempt import Conditions
    from sweeps.replay import compare_with_replay

    row, store = stored_trial(arguments.id, _store(arguments))
    _check_known(row)
    differences, seconds = compare_with_replay(row, Conditions(data_dir=arguments.data_dir, cpus=row.cpus, device=row.device))
    title = f"replayed {row.label} seed {row.seed}{origin(store)} in {seconds:.0f} s"
    if not differences:
        print(f"{title}: identical to the stored row")
        return 0
    print(f"{title}: it differs")
    for line in differences:
        print(f"  {line}")
    return 1


def _check_known(row: "Row") -> None:
    """What a plug-in brought is not known without it."""
    from sweeps.trial import Trial

    try:
        _ = Trial.from_facts(json.loads(row.spec)).facts
    except UnknownName as error:
        raise UnknownName(f"{error} If a plug-in of yours has it: --plugin FILE") from error


def engine_of(arguments: argparse.Namespace) -> "Engine":
    """Where and with what the trials run, as the flags say."""
    from sweeps.attempt import Conditions
    from sweeps.execute import Engine
    from sweeps.exports import Exports
    from sweeps.places import within

    packed = arguments.gpus_per_trial == "auto"
    conditions = Conditions(
        data_dir=arguments.data_dir, device="auto", cpus=arguments.cpus_per_trial, gpus=1.0 if packed else arguments.gpus_per_trial,
        time_limit=arguments.time_limit, checkpoint_every=arguments.checkpoint_every,
    )  # fmt: skip
    trials, checkpoints = within(arguments.results_dir, "trials"), within(arguments.results_dir, "checkpoints")
    return Engine(
        trials, checkpoints, conditions, arguments.address, arguments.max_concurrent, arguments.verbose,
        tuple(arguments.plugin), Exports(arguments.tensorboard, arguments.mlflow, arguments.wandb), packed,
    )  # fmt: skip


def _execute(arguments: argparse.Namespace, plan: "Plan") -> None:
    from sweeps.execute import execute
    from sweeps.progress import Progress

    progress = Progress(len(plan.missing), {trial.id: trial.spec.steps for trial in plan.missing})
    try:
        execute(plan.missing, engine_of(arguments), progress, plan.attempts)
    except KeyboardInterrupt:
        raise EngineError(
            "Interrupted. What is finished is stored, what was running can go on: the same command runs the rest."
        ) from None
    finally:
        progress.close()


def _plan(arguments: argparse.Namespace) -> "Plan":
    from bench.reuse import shipped
    from sweeps.plan import make_plan
    from sweeps.row import Outcome
    from vera.errors import SettingError
    from vera.settings import nearest

    store = _store(arguments)
    retry = [outcome.strip() for outcome in getattr(arguments, "retry", "").split(",") if outcome.strip()]
    for outcome in retry:
        if outcome not in get_args(Outcome):
            raise SettingError(f"--retry knows no outcome '{outcome}'.{nearest(outcome, list(get_args(Outcome)))}")
    trials = asked_trials(arguments, store)
    plan = make_plan(trials, store.outcomes(), store.rows(), retry, shipped(retry) if arguments.reuse_published else ())
    _name_problems(store)
    elsewhere = published_seconds([trial for trial in plan.missing if trial.id not in plan.seconds])
    return replace(plan, seconds=plan.seconds | elsewhere, borrowed=bool(elsewhere))


def _summary(arguments: argparse.Namespace, plan: "Plan") -> str:
    cores = None if getattr(arguments, "address", None) else own_cores()
    about = plan_cost(flop_of(arguments.sweep), plan, cores) if plan.missing else ""
    total = len(plan.missing) + len(plan.elsewhere) + len(plan.cached)
    done = f"{len(plan.cached)} already done{f' · {len(plan.elsewhere)} published' if plan.elsewhere else ''}"
    return f"{arguments.sweep} · {arguments.profile} profile · {counted(total, 'trial')} · {done}{about}"


def _name_problems(store: "Store") -> None:
    """Files in the store that are no parts: named by whoever comes upon them, for they are set aside and not seen again."""
    for problem in store.problems:
        print(f"vera: {problem}", file=sys.stderr)


def _store(arguments: argparse.Namespace) -> "Store":
    from bench.results import open_store

    return open_store(arguments.results_dir, create=True)
