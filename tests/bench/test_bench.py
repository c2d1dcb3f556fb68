"""The bench runs on a mailbox of some hundred messages: each job has a floor, an answer and a line in the table."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bench import report
from bench.__main__ import run
from bench.corpus import Corpus, Places
from bench.jobs import JOBS
from bench.memory import Growth, list_beside_slow_readers
from bench.rounds import Effort, Outcome, quantile
from bench.servers import MailServer, gateway, mail_server
from bench.watching import ALLOCATOR, Watched, table

LARGE, SMALL = 300, 60
ONCE = Effort(rounds=1, seconds=0.0)


@pytest.fixture(scope="module")
def server() -> Iterator[MailServer]:
    # Dovecot serves root's mail as another user, whom pytest's own folders would not let in.
    with tempfile.TemporaryDirectory(prefix="postroom-bench-") as folder:
        Path(folder).chmod(0o755)
        with mail_server(Path(folder) / "mail", LARGE, SMALL) as running:
            yield running


def test_every_job_is_measured_on_both_sides_and_has_its_line_in_the_table(server: MailServer) -> None:
    outcomes = run(JOBS, server, ONCE)
    assert [(one.job.name, one.floor is not None) for one in outcomes] == [
        (job.name, job.floor is not None or job.beside is not None) for job in JOBS
    ]
    table = report.table(outcomes, [Growth("a download", 1.5)])
    assert all(f"| {job.name}: " in table for job in JOBS)
    assert "| a download | 1.5 MB |" in table
    assert [one.job.name for one in outcomes if one.call and one.commit] == ["J5", "J6", "J8"]


def test_the_parts_that_no_skill_can_save_are_added_up_and_compared_with_the_floor() -> None:
    job = replace(JOBS[0], name="J0", commits=3, at_most=2.5)
    table = report.table([Outcome(job, 9.0, 9.5, floor=2.0, call=0.5, commit=0.25)], [])
    assert "| J0 | 0.50 ms | 3 of 0.25 ms | 2.00 ms | 3.25 ms | 1.62x | 2.5x |" in table


def test_a_list_is_answered_beside_more_readers_that_do_not_read_than_there_are_connections(
    server: MailServer, tmp_path: Path
) -> None:
    with gateway(tmp_path, server) as running:
        list_beside_slow_readers(running, Places(LARGE))


def test_the_same_mail_is_made_from_the_same_seed() -> None:
    first, second = ([one.octets for one in Corpus("u01", SMALL).messages()] for _ in range(2))
    assert first == second


def test_a_message_that_a_job_needs_lies_where_the_job_looks() -> None:
    messages = [one.octets for one in Corpus("big", LARGE).messages()]
    places = Places(LARGE)
    assert b"Subject: Five megabytes attached" in messages[places.file - 1]
    assert b"Subject: Text, a page and a file" in messages[places.sample - 1]
    assert b"Subject: Project Halcyon kickoff" in messages[places.thread[-1] - 1]


def test_what_is_over_its_bound_is_marked() -> None:
    good = Outcome(JOBS[0], postroom=2.0, slow=3.0, floor=1.0)
    assert good.good
    assert "(above)" not in report.table([good], [])
    assert "2.10x (above)" in report.table([replace(good, postroom=2.1)], [])


def test_a_section_is_written_in_its_place_and_the_others_stay_as_they_are() -> None:
    page = report.renewed("", {report.WATCHED: "| a table |", report.CALLS: "| calls |"})
    assert page == f"{report.CALLS}\n\n| calls |\n\n{report.WATCHED}\n\n| a table |\n"
    page = report.renewed(page, {report.NEW_MAIL: "late", report.CALLS: "| other calls |"})
    assert (
        page == f"{report.CALLS}\n\n| other calls |\n\n{report.NEW_MAIL}\n\nlate\n\n{report.WATCHED}\n\n| a table |\n"
    )
    assert report.renewed(page, {}) == page


def test_the_page_has_the_sections_that_the_bench_writes_and_no_other() -> None:
    page = report.PAGE.read_text()
    assert report.renewed(page, {}) == page


def test_the_table_of_watched_mailboxes_tells_what_a_crowd_costs_beyond_one() -> None:
    told = table(Watched(1000, 66.6, 0.81, 1000, 1001, 1001))
    assert "| resident memory for each | 67 kB | 60 kB |" in told
    assert "| more of them while one call waits in one mailbox | 1 |" in told
    assert "| and more again while 200 calls wait there | 0 | 0 |" in told


def test_what_is_measured_is_started_as_the_unit_and_the_image_start_it() -> None:
    for name in ("packaging/postroom.service", "Dockerfile"):
        text = (report.PAGE.parent.parent / name).read_text()
        assert all(f"{variable}={value}" in text for variable, value in ALLOCATOR.items())


def test_a_quantile_is_one_of_the_values() -> None:
    assert [quantile([3.0, 1.0, 2.0], share) for share in (0.0, 0.5, 0.95, 1.0)] == [1.0, 2.0, 3.0, 3.0]
