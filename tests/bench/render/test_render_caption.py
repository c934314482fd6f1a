"""The end of a caption names every origin of the rows and no host."""

from engine_helpers import make_row

from bench.render.caption import describe_origin


def row(name, **changes):
    usual = {
        "profile": "laptop",
        "dataset": "digits",
        "data_fingerprint": "0123456789abcdef",
        "git_commit": "fedcba9876543210",
        "versions": '{"python":"3.11.2","torch":"2.13.0"}',
        "device": "cpu",
        "processor": "Ryzen 9",
        "cores": 16,
    }
    return make_row(name, **(usual | changes))


def test_one_origin():
    assert describe_origin([row("a"), row("b")]) == (
        "Laptop profile: 2 trials on digits (data 01234567). "
        "Code fedcba9, torch 2.13.0, on Ryzen 9 (16 cores)."
    )


def test_a_repeated_row_counts_once():
    assert "1 trial on" in describe_origin([row("a"), row("a")])


def test_every_origin_is_named_in_a_fixed_order():
    rows = [
        row("a"),
        row("b", dataset="moons", data_fingerprint="ffff"),
        row("c", git_dirty=True),
        row("d", git_commit="", versions="{}"),
        row("e", device="cuda", processor="H100", cores=96),
        row("f", profile="paper", cores=1),
    ]
    made = describe_origin(rows)
    assert made == describe_origin(rows[::-1])
    assert made == (
        "Laptop profile, paper profile: 6 trials on digits (data 01234567), moons (data ffff). "
        "Code fedcba9, fedcba9 (changed), of unknown commit, torch 2.13.0, torch unknown, "
        "on H100, Ryzen 9 (1 core), Ryzen 9 (16 cores)."
    )


def test_no_rows():
    assert describe_origin([]) == "No trial of this has been run."
