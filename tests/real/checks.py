"""What every sender's test checks of a ledger: it has what was acknowledged, once, to the digit.

`acknowledged` is {labels: {ms: value}} as remote_write.Recorder wrote it down.
"""
import ledger
from harness import expect, say

def same_means(rows, acknowledged, resolution_ms, interval_ms):
    """Every column that the exporter feeds: same series, same known time, same means. Returns the
    known milliseconds that were compared, and those of which nobody knew.

    For how long a value may hold goes by the interval that was learned from the series. Where a
    bucket depends on that (a sample is missing and no mark of the end came), its known time must lie
    between one interval's and eight, since a busy machine scrapes late; all others are compared to
    the digit.
    """
    compared = unknown = 0
    for column in ledger.COLUMNS:
        least = ledger.must_say(acknowledged, column, resolution_ms, interval_ms + 50)
        most = ledger.must_say(acknowledged, column, resolution_ms, 8 * interval_ms)
        got = ledger.sums(rows, column, resolution_ms)
        expect(set(got) == {key for key, buckets in least.items() if buckets},
               f"{column}: series {sorted(set(got) ^ set(least))[:4]} are there and must not be, "
               "or the other way round")
        wrong = []
        for key in most:
            for begin in sorted(set(most[key]) | set(got.get(key, {}))):
                low, low_ms = least[key].get(begin, [0, 0])
                _, high_ms = most[key].get(begin, [0, 0])
                have, have_ms = got.get(key, {}).get(begin, [0, 0])
                compared += have_ms
                same = low_ms <= have_ms <= high_ms
                if low_ms == high_ms:
                    same = have_ms == low_ms and abs(low - have) <= low_ms
                if not same:
                    wrong.append((key, begin, low / max(low_ms, 1), (low_ms, high_ms),
                                  have / max(have_ms, 1), have_ms))
            begins = sorted(least[key])
            if begins:
                unknown += sum(max(resolution_ms - got.get(key, {}).get(begin, [0, 0])[1], 0)
                               for begin in range(begins[0] + resolution_ms, begins[-1],
                                                  resolution_ms))
        expect(not wrong, f"{column}: {len(wrong)} buckets differ; (series, begin, mean, known ms, "
                          f"ledger's mean, ms): {wrong[:5]}")
    return compared, unknown


def same_energy(rows, acknowledged):
    """The millijoules of each card are the increase of its counter. Returns their sum."""
    wanted, got = ledger.energy_must_say(acknowledged), ledger.energy(rows)
    wrong = {gpu: (want, got.get(gpu, 0)) for gpu, want in wanted.items()
             if want != got.get(gpu, 0)}
    expect(not wrong, f"energy, mJ wanted and in the ledger: {wrong}")
    expect(set(got) <= set(wanted), f"energy of unknown cards: {set(got) - set(wanted)}")
    return sum(wanted.values())


def nothing_twice(rows):
    for column in (*ledger.COLUMNS, "energy_used_millijoules", "power_milliwatts"):
        found = ledger.overlaps(rows, column)
        expect(not found, f"{column}: {len(found)} spans overlap: {found[:1]}")


def whole_ledger(server, acknowledged, interval_ms=1000):
    """All checks, with a line of figures. Returns the rows, and for how many milliseconds of all
    columns nothing is known between the first and the last bucket."""
    rows = ledger.usages(server.sql_tool, server.ledger)
    compared, unknown = same_means(rows, acknowledged, server.resolution_ms, interval_ms)
    millijoules = same_energy(rows, acknowledged)
    nothing_twice(rows)
    expect(compared > 0, "something was compared")
    samples = sum(len(kept) for kept in acknowledged.values())
    say(f"the ledger says what {samples:,} acknowledged samples say: {len(rows):,} spans, "
        f"{compared / 1000:,.1f} s of values known, {unknown / 1000:,.1f} s unobserved, "
        f"{millijoules / 1000:,.3f} J")
    return rows, unknown
