"""The page in a browser: links, sorting, filtering and folding by keyboard, without requests or errors."""

import os

import pytest
import report_browser
from report_helpers import ARTIFACTS, fill_store, make_record, make_trial, open_results

from bench.report.page import render_page
from sweeps.store.store import Store

pytestmark = pytest.mark.skipif(
    report_browser.find_executable() is None and not os.environ.get("VERA_NEEDS_BROWSER"),  # set in CI
    reason="needs a browser: install chromium (Debian: apt-get install chromium)",
)
SHOWN = "[...document.querySelectorAll('#laptop tbody[data-id]')].map((body) => body.dataset.id.slice(0, 5))"
OPEN = "[...document.querySelectorAll('#laptop .detail')].map((row) => row.id.slice(7, 12))"
COUNT = "document.querySelector('#laptop output').textContent"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    fill_store(folder)
    path = folder / "report.html"
    path.write_text(render_page(ARTIFACTS, open_results(folder)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    with report_browser.start_browser(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@pytest.fixture
def at(chromium, file):
    """Opens the page with a fragment. Afterwards, the page must have made no request and logged no error."""

    def open_page(fragment=""):
        chromium.open(file.as_uri() + fragment)
        chromium.wait_for("document.documentElement.classList.contains('ready')")
        return chromium

    yield open_page
    assert chromium.complaints == []
    assert [url for url in chromium.requests if not url.startswith(("file:", "data:", "about:"))] == []
    assert any(url.startswith("file:") for url in chromium.requests)


def test_initially_every_trial_is_listed_and_collapsed(at):
    page = at()
    assert page.run(SHOWN) == ["ml0la", "ml1la", "pcd0l", "pcd1l", "vera0"]
    assert page.run(OPEN) == []
    assert page.run(COUNT) == "5 trials"
    assert page.run("location.hash") == ""


@pytest.mark.parametrize(
    ("fragment", "order"),
    [
        ("#sort=seconds", ["pcd0l", "ml1la", "pcd1l", "ml0la", "vera0"]),
        ("#sort=-seconds", ["vera0", "ml0la", "pcd1l", "ml1la", "pcd0l"]),
        ("#sort=test_log_likelihood", ["vera0", "ml1la", "ml0la", "pcd0l", "pcd1l"]),
        ("#sort=-test_log_likelihood", ["ml0la", "ml1la", "vera0", "pcd0l", "pcd1l"]),
        ("#sort=-label", ["vera0", "pcd0l", "pcd1l", "ml0la", "ml1la"]),
        ("#sort=nothing", ["ml0la", "ml1la", "pcd0l", "pcd1l", "vera0"]),
    ],
)
def test_a_link_sorts_and_missing_values_come_last(at, fragment, order):
    assert at(fragment).run(SHOWN) == order


@pytest.mark.parametrize(
    ("words", "left"),
    [
        ("PCD", ["pcd0l", "pcd1l"]),
        ("pcd diverged", ["pcd0l"]),
        ("outcome=ok seed=0", ["ml0la", "vera0"]),
        ("test_log_likelihood=-1138.5", ["vera0"]),
        ("steps=400", ["ml0la", "ml1la", "vera0"]),
        ('label="vera λ=1"', ["vera0"]),
        ("λ=1", ["vera0"]),
        ("seconds>12", ["ml0la", "vera0"]),
        ("test_log_likelihood<-792", ["ml1la", "vera0"]),
        ("label>1", []),
        ("label=vera", []),
    ],
)
def test_a_link_filters(at, words, left):
    page = at()
    page.run(f"location.hash = 'filter=' + encodeURIComponent({words!r})")
    page.wait_for("document.querySelector('#filter-laptop').value")
    assert page.run(SHOWN) == left
    assert page.run(COUNT) == (f"{len(left)} of 5 trials")


def test_a_link_expands_a_trial_and_scrolls_to_it(at):
    page = at("#filter=ok&open=vera0&sort=-seconds")
    assert page.run(OPEN) == ["vera0"]
    assert page.run("document.querySelector('tbody.open button').getAttribute('aria-expanded')") == "true"
    page.wait_for("document.querySelector('.detail .facts')")
    assert page.run("scrollY") > 0
    assert page.run("document.querySelector('tbody.open').getBoundingClientRect().top < innerHeight")


def test_an_anchor_does_not_change_the_view(at):
    page = at("#filter=pcd")
    page.run("document.querySelector('a[href=\"#laptop-table90\"]').click()")
    page.wait_for("location.hash === '#laptop-table90'")
    assert page.run(SHOWN) == ["pcd0l", "pcd1l"]


def test_the_keyboard_sorts_in_both_directions(at):
    page = at()
    state = "document.querySelector('#laptop th[data-key=seconds]').getAttribute('aria-sort')"
    page.run("document.querySelector('#laptop th[data-key=outcome] button').focus()")
    for _ in range(4):  # steps, two metrics, seconds
        page.press("Tab")
    assert page.run("document.activeElement.textContent") == "seconds"
    page.press("Enter", "\r")
    assert (page.run(state), page.run(SHOWN)[0], page.run("location.hash")) == (
        "ascending",
        "pcd0l",
        "#sort=seconds",
    )
    page.press("Enter", "\r")
    assert (page.run(state), page.run(SHOWN)[0], page.run("location.hash")) == (
        "descending",
        "vera0",
        "#sort=-seconds",
    )
    assert page.run("document.querySelectorAll('#laptop [aria-sort]').length") == 1


def test_the_keyboard_expands_and_collapses_a_trial(at):
    page = at()
    page.run("document.querySelector('#laptop tbody[data-id^=pcd0] button').focus()")
    page.press("Enter", "\r")
    assert page.run(OPEN) == ["pcd0l"]
    assert page.run("document.activeElement.getAttribute('aria-expanded')") == "true"
    assert page.run("location.hash").startswith("#open=pcd0laptop")
    page.press("Enter", "\r")
    assert page.run(OPEN) == []
    assert page.run("document.activeElement.getAttribute('aria-expanded')") == "false"


def test_typing_filters_every_list_and_updates_the_address(at):
    page = at()
    page.run("document.querySelector('#filter-laptop').focus()")
    page.type("method=ml")
    assert page.run(SHOWN) == ["ml0la", "ml1la"]
    assert page.run("document.querySelector('#filter-smoke').value") == "method=ml"
    fragment = page.run("location.hash")
    assert at(fragment).run(SHOWN) == ["ml0la", "ml1la"]


def test_the_page_follows_the_readers_colour_scheme(at):
    page = at()
    ground = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"
    for scheme, is_dark in (("light", False), ("dark", True)):
        page.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        assert (max(page.run(ground)) < 128) is is_dark


def test_print_has_no_controls_and_is_light(at):
    page = at()
    page.ask(
        "Emulation.setEmulatedMedia",
        media="print",
        features=[{"name": "prefers-color-scheme", "value": "dark"}],
    )
    assert page.run("document.querySelector('.controls').offsetHeight") == 0
    assert page.run("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert (
        max(
            page.run(
                "getComputedStyle(document.querySelector('.supported')).color.match(/\\d+/g).map(Number)"
            )
        )
        < 128
    )
    assert page.run("getComputedStyle(document.querySelector('.banner')).position") == "static"
    page.ask("Emulation.setEmulatedMedia", media="", features=[])


def test_without_javascript_tables_and_figures_remain(at, chromium, file):
    chromium.ask("Emulation.setScriptExecutionDisabled", value=True)
    try:
        chromium.open(file.as_uri())
        shown = "document.querySelector('#laptop-table90 table').offsetHeight"
        assert chromium.run(shown) > 0
        assert chromium.run("document.querySelector('#laptop .controls').offsetHeight") == 0
        assert chromium.run("document.querySelector('#laptop noscript').textContent.includes('vera show')")
    finally:
        chromium.ask("Emulation.setScriptExecutionDisabled", value=False)


def test_details_are_unpacked_when_a_trial_is_opened(at):
    page = at("#open=pcd1")
    page.wait_for("document.querySelector('.detail pre')")
    assert page.run("document.querySelector('.detail pre').textContent") == "Traceback\n  in <module>"
    assert page.run("document.querySelectorAll('.detail').length") == 1


def test_the_theme_can_be_chosen(at):
    page = at()
    page.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}])
    ground = "Math.max(...getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number))"
    texts, dark = [], []
    for _ in range(3):
        page.run("document.querySelector('#theme').click()")
        texts.append(page.run("document.querySelector('#theme').textContent"))
        dark.append(page.run(ground) < 128)
    assert texts == ["Theme: light", "Theme: dark", "Theme: auto"]
    assert dark == [False, True, False]


def test_the_page_fits_a_phone(at):
    page = at("#open=vera0")
    page.ask("Emulation.setDeviceMetricsOverride", width=360, height=700, deviceScaleFactor=1, mobile=True)
    try:
        page.wait_for("document.querySelector('.detail .facts')")
        assert page.run("document.scrollingElement.scrollWidth") == 360
        wide = "document.querySelector('.detail-box').getBoundingClientRect().width"
        assert page.run(wide) <= 360
    finally:
        page.ask("Emulation.clearDeviceMetricsOverride")


def test_long_lists_have_pages(chromium, tmp_path):
    store = Store(tmp_path / "trials")
    for seed in range(120):
        store.write(make_record(make_trial("ML", seed=seed), float(-seed), points=1))
    path = tmp_path / "report.html"
    path.write_text(render_page((), open_results(tmp_path, "laptop")), encoding="utf-8")
    chromium.open(path.as_uri() + "#sort=-seed")
    chromium.wait_for("document.documentElement.classList.contains('ready')")
    seeds = "[...document.querySelectorAll('td.seed')].map((cell) => Number(cell.textContent))"
    assert chromium.run(seeds) == list(range(119, 69, -1))
    chromium.run("document.querySelector('.next').click()")
    assert chromium.run(seeds) == list(range(69, 19, -1))
    assert chromium.run("document.querySelector('.range').textContent") == "51 to 100 of 120"
    chromium.run("location.hash = 'sort=-seed&open=ml3laptop'")
    chromium.wait_for("document.querySelector('tbody.open')")
    assert chromium.run(seeds) == list(range(19, -1, -1)), "the page of the trial that the link opens"


def test_the_policy_blocks_an_injected_script(tmp_path, chromium, file):
    injected = "<main><script>window.injected = 1</script><img src='https://example.invalid/'>"
    path = tmp_path / "report.html"
    path.write_text(file.read_text(encoding="utf-8").replace("<main>", injected), encoding="utf-8")
    chromium.open(path.as_uri())
    assert chromium.run("window.injected === undefined")
    assert any("Content Security Policy" in str(complaint) for complaint in chromium.complaints)
    assert len(chromium.complaints) >= 2
