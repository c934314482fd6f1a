"""The end of a caption names every origin of the rows, and no host."""

from engine_helpers import make_row

from bench.render.caption import caption_tail


def row(name, **changes):
    usual = {
        "profile": "laptop", "dataset": "digits", "data_fingerprint": "0123456789abcdef", "git_commit": "fedcba9876543210",
        "versions": '{"python":"3.11.2","torch":"2.13.0"}', "device": "cpu", "processor": "Ryzen 9", "cores": 16,
    }  # fmt: skip
    return make_row(name, **(usual | changes))


def test_one_origin():
    assert caption_tail([row("a"), row("b")]) == (
        "Laptop profile: 2 trials on digits (data 01234567). Code fedcba9, torch 2.13.0, on Ryzen 9 (16 cores)."
    )


def test_a_row_that_is_given_twice_counts_once():
    assert "1 trial on" in caption_tail([row("a"), row("a")])


def test_every_origin_is_named_and_order_does_not_matter():
    rows = [
        row("a"),
        row("b", dataset="moons", data_fingerprint="ffff"),
        row("c", git_dirty=True),
        row("d", git_commit="", versions="{}"),
        row("e", device="cuda", processor="H100", cores=96),
        row("f", profile="paper", cores=1),
    ]
    made = caption_tail(rows)
    assert made == caption_tail(rows[::-1])
    assert made == (
        "Laptop profile, paper profile: 6 trials on digits (data 01234567), moons (data ffff). "
        "Code fedcba9, fedcba9 (changed), of unknown commit, torch 2.13.0, torch unknown, "
        "on H100, Ryzen 9 (1 core), Ryzen 9 (16 cores)."
    )


def test_no_rows():
    assert caption_tail([]) == "No trial of this has been run."
