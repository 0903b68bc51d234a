"""The loop that keeps the averages of all bundles while reports come in, one pass through memory for all reports of a minute.

Mirrors updateBundleData of ModularLoadManagerImpl, which adds a sample to every bundle of every report whenever one is written.
"""

from __future__ import annotations

from fencepost.model.kernel.compiler.loops import Real, native
from fencepost.model.kernel.compiler.packing import Floats, Integers

BLOCK = 512
"""Bundles whose averages advance together: their numbers stay in the processor's nearest cache for all samples."""


@native
def _advanced(average: Real, sample: Real, count: Real) -> float:
    """The average with one more sample, the last of so many."""
    return (average * (count - 1.0) + sample) / count


@native
def add_samples(
    counts: Floats,
    averages: Floats,
    samples: Floats,
    reported: Integers,
    done: Floats,
    most: Floats,
    measured: Floats,
    left: Integers,
    left_ends: Integers,
    heard: Integers,
    heard_ends: Integers,
) -> None:
    """With each report that comes in, one sample for each bundle that is reported: n = min(n + 1, most), then
    (average * (n - 1) + sample) / n.

    ``counts`` and ``averages`` have two terms, ``averages``, ``samples`` and ``measured`` four rows. A report no longer speaks
    of the places in ``left`` up to its end in ``left_ends``, and speaks of those in ``heard``, with what is ``measured`` now.
    ``reported`` is how many reports speak of a bundle. Its samples are all the same until a report of it changes, so they are
    added then, or in the end: ``done`` is how many it has, zero before and after.
    """
    reports, last_left, last_heard = heard_ends.shape[0], 0, 0
    for report in range(reports):
        for speaks in range(2):
            first, end = (last_heard, heard_ends[report]) if speaks else (last_left, left_ends[report])
            for number in range(first, end):
                place = heard[number] if speaks else left[number]
                if reported[place] > 0:
                    waiting = int(report - done[place])
                    for term in range(2):
                        count = counts[term, 0, place]
                        for _ in range(waiting):
                            count = min(count + 1.0, most[term])
                            for row in range(4):
                                averages[term, row, place] = _advanced(averages[term, row, place], samples[row, place], count)
                        counts[term, 0, place] = count
                done[place] = report
                if speaks:
                    reported[place] += 1
                    for row in range(4):
                        samples[row, place] = measured[row, place]
                else:
                    reported[place] -= 1
        last_left, last_heard = left_ends[report], heard_ends[report]
    size = done.shape[0]
    for place in range(size):
        done[place] = reports - done[place] if reported[place] > 0 else 0.0
    for low in range(0, size, BLOCK):
        waits = done[low : low + BLOCK]
        for term in range(2):
            limit, before_all, alike = most[term], counts[term, 0, low : low + BLOCK], False
            for row in range(4):
                those, now = averages[term, row, low : low + BLOCK], samples[row, low : low + BLOCK]
                if row % 2 == 1 and alike:  # of what comes in all goes out once: the same numbers
                    twins = averages[term, row - 1, low : low + BLOCK]
                    for place in range(len(those)):
                        those[place] = twins[place] if waits[place] > 0 else those[place]
                    continue
                if row % 2 == 0:
                    alike = True
                    twins, then = averages[term, row + 1, low : low + BLOCK], samples[row + 1, low : low + BLOCK]
                    for place in range(len(those)):
                        alike &= (those[place] == twins[place]) & (now[place] == then[place])
                for report in range(reports):
                    for place in range(len(those)):
                        following = _advanced(those[place], now[place], min(before_all[place] + (report + 1.0), limit))
                        those[place] = following if report < waits[place] else those[place]
            for place in range(len(before_all)):
                before_all[place] = before_all[place] if waits[place] == 0 else min(before_all[place] + waits[place], limit)
        for place in range(len(waits)):
            waits[place] = 0.0
