from sdtps.support.byte_lru import ByteLru


def test_least_recently_used_goes_first():
    cache = ByteLru[bytes](10, len)
    cache.put("a", b"1234")
    cache.put("b", b"1234")
    cache.get("a")
    cache.put("c", b"1234")
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (b"1234", None, b"1234")
    assert cache.bytes == 8


def test_what_is_larger_than_the_budget_is_not_kept():
    cache = ByteLru[bytes](3, len)
    cache.put("a", b"1234")
    assert cache.get("a") is None
    assert cache.bytes == 0


def test_replacing_counts_once_and_discarding_frees():
    cache = ByteLru[bytes](10, len)
    cache.put("a", b"1234")
    cache.put("a", b"12")
    assert cache.bytes == 2
    cache.discard_where(lambda key: key == "a")
    assert (cache.bytes, len(cache)) == (0, 0)
