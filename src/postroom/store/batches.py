"""How a batch of jobs is done: writers in one transaction with one commit, readers over one view."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from postroom.store.connection import Announcement, Session, StatementError
from postroom.store.worker import Job, StoreError

Tell = Callable[[Sequence[Announcement]], None]
"""Passes on what was announced, once it is on the disk."""


def commit_together(tell: Tell, session: Session, jobs: Sequence[Job[object]]) -> None:
    """All jobs in one transaction, each with a mark of its own to go back to."""
    try:
        session.begin()
        for job in jobs[:-1]:
            _attempt(session, job)
            session.mark()
        _attempt(session, jobs[-1])
        announced = tuple(session.announced)
        session.commit()
    except (StoreError, StatementError) as failure:
        _give_up(session, jobs, failure)
    else:
        for job in jobs:
            job.settle()
        tell(announced)


def _attempt(session: Session, job: Job[object]) -> None:
    before = len(session.announced)
    failure = job.run(session)
    if not session.in_transaction:  # SQLite undoes all of it when the disk is full, PostgreSQL when it goes away
        raise failure if isinstance(failure, StoreError) else StoreError("a job ended the transaction of all")
    if failure is not None:
        del session.announced[before:]
        session.undo()


def read_together(session: Session, jobs: Sequence[Job[object]]) -> None:
    """One after another over one view, or over a new one after a job that failed."""
    for number, job in enumerate(jobs):
        try:
            if not session.in_transaction:
                session.begin()
        except StoreError as failure:
            _give_up(session, jobs[number:], failure)
            return
        if job.run(session) is not None:
            session.rollback()
        job.settle()
    session.rollback()


def _give_up(session: Session, jobs: Sequence[Job[object]], failure: Exception) -> None:
    session.rollback()
    told = failure if isinstance(failure, StoreError) else StoreError(f"the database failed: {failure}")
    for job in jobs:
        job.fail(told)
