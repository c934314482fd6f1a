"""Locations of results: a directory or the URL of a bucket. Invalid URLs and URLs with a key are refused."""

import os
import re

import pytest
from facts import raises_with

from sweeps.errors import StoreError
from sweeps.store.location import BucketLocation, is_url, join_location, resolve_location
from sweeps.store.store import Store


def test_a_joined_name_goes_before_the_options_of_a_url():
    assert (
        join_location("s3://lab/runs?region=eu-west-1", "trials") == "s3://lab/runs/trials?region=eu-west-1"
    )
    assert join_location("s3://lab", "trials") == "s3://lab/trials"
    assert join_location("results/local", "trials") == os.path.join("results", "local", "trials")
    assert resolve_location("s3://lab/runs") == "s3://lab/runs"
    assert resolve_location("runs") == os.path.abspath("runs")
    assert [is_url(location) for location in ("s3://lab", "results", "/s3:/x")] == [True, False, False]


def test_a_url_is_parsed():
    options = "region=eu-west-1&endpoint_override=127.0.0.1:9000&scheme=http"
    parsed = BucketLocation.parse(f"s3://lab/a%20b/c/?{options}")
    assert (parsed.bucket, parsed.prefix) == ("lab", "a b/c")
    assert dict(parsed.options) == {
        "region": "eu-west-1",
        "endpoint_override": "127.0.0.1:9000",
        "scheme": "http",
    }


@pytest.mark.parametrize(
    "text",
    [
        "s3://ann:hunter2@lab/x",
        "s3://ann@lab/hunter2",
        "s3://ann:hun/ter2@lab/x",
        "s3://lab/x?secret_key=hunter2",
    ],
)
def test_a_url_with_a_key_is_refused_and_not_repeated(text):
    with pytest.raises(StoreError) as caught:
        Store(text)
    assert not re.search("hun|ter2|ann", str(caught.value))


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("", ["directory"]),
        ("gs://lab/x", ["gs://lab/x", "s3://BUCKET/PREFIX"]),
        ("s3:///x", ["s3:///x", "s3://BUCKET/PREFIX"]),
        ("s3://lab/x#y", ["s3://lab/x#y", "s3://BUCKET/PREFIX"]),
        ("s3:/lab/x", ["s3:/lab/x", "s3://BUCKET/PREFIX", "./s3:/lab/x"]),
        ("s3://lab/x?scheme=ftp", ["s3://lab/x?scheme=ftp", "http or https"]),
        ("s3://lab/x?regoin=eu", ["'regoin'", "region", "endpoint_override", "scheme"]),
    ],
)
def test_an_invalid_location_is_refused(text, facts):
    with raises_with(StoreError, *facts):
        Store(text)
    assert not os.path.exists("s3:")
