"""What is told of the tasks of Spark's jobs, and how little is asked for it. Without Spark."""

from __future__ import annotations

from collections import Counter
from typing import cast

from pyspark import SparkJobInfo, SparkStageInfo, StatusTracker

from fencepost.traces.exploration.explore import Tasks


class Jobs:
    """A session in which job n has two stages of four tasks, of which so many are done as the test says."""

    def __init__(self) -> None:
        self.running, self.done, self.asked = list[int](), dict[int, int](), Counter[int]()

    def getActiveJobsIds(self) -> list[int]:
        return self.running

    def getJobInfo(self, job: int) -> SparkJobInfo:
        self.asked[job] += 1
        return SparkJobInfo(job, [2 * job, 2 * job + 1], "RUNNING")

    def getStageInfo(self, stage: int) -> SparkStageInfo:
        return SparkStageInfo(stage, 0, "", 4, 0, self.done.get(stage, 0), 0)


def test_only_jobs_that_run_are_asked_and_those_before_have_done_their_tasks() -> None:
    jobs = Jobs()
    tasks = Tasks(cast(StatusTracker, jobs))
    assert tasks.share() == 0.0, "none runs yet"
    jobs.running, jobs.done = [7], {14: 2}
    assert tasks.share() == 2 / 8
    jobs.running = [8]
    assert tasks.share() == 8 / 16
    jobs.done = {16: 4, 17: 1}
    assert tasks.share() == 13 / 16
    jobs.running = []
    assert tasks.share() == 1.0
    assert jobs.asked == {7: 1, 8: 2}
