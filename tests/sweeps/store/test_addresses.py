"""Where results can lie: a directory or the address of a bucket; what is no address, or holds a key, is
refused."""

import os
import re

import pytest

from sweeps.errors import StoreError
from sweeps.store.address import Address, is_url, settled, within
from sweeps.store.store import Store


def test_a_name_goes_before_the_options_of_an_address():
    assert within("s3://lab/runs?region=eu-west-1", "trials") == "s3://lab/runs/trials?region=eu-west-1"
    assert within("s3://lab", "trials") == "s3://lab/trials"
    assert within("results/local", "trials") == os.path.join("results", "local", "trials")
    assert settled("s3://lab/runs") == "s3://lab/runs"
    assert settled("runs") == os.path.abspath("runs")
    assert [is_url(place) for place in ("s3://lab", "results", "/s3:/x")] == [True, False, False]


def test_an_address_is_taken_apart():
    address = Address.parse("s3://lab/a%20b/c/?region=eu-west-1&endpoint_override=127.0.0.1:9000&scheme=http")
    assert (address.bucket, address.prefix) == ("lab", "a b/c")
    assert dict(address.options) == {
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
def test_an_address_with_a_key_in_it_is_refused_and_not_repeated(text):
    with pytest.raises(StoreError) as caught:
        Store(text)
    assert not re.search("hun|ter2|ann", str(caught.value))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("gs://lab/x", "give a directory or s3://BUCKET/PREFIX"),
        ("s3:///x", "give a directory or s3://BUCKET/PREFIX"),
        ("s3://lab/x#y", "give a directory or s3://BUCKET/PREFIX"),
        ("s3:/lab/x", "is no address: write s3://BUCKET/PREFIX"),
        ("s3://lab/x?scheme=ftp", "must be http or https"),
        ("s3://lab/x?regoin=eu", "knows no 'regoin'"),
    ],
)
def test_what_is_no_address_is_refused(text, words):
    with pytest.raises(StoreError, match=re.escape(words)):
        Store(text)
    assert not os.path.exists("s3:")
