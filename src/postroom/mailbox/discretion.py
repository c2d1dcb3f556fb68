"""Errors as bound callers hear of them: in constant words, so that none tells what the caller may not see."""

from __future__ import annotations

from collections.abc import Sequence

from postroom.base.errors import Code, GatewayError, not_found

_NOTHING = "There is nothing of that name here: use folders and uids as the lists of this token give them now."
_FAILED = "The mail server cannot do this now. Try again later; if it stays, the operator should look at the log."
_NO_LABELS = "The server keeps no labels of your choice in this folder."
_NO_CURSOR = "This cursor is good no more, or was never: start again without one."
_CURSORS = ("cursor", "since_cursor")


def discreet(error: GatewayError) -> GatewayError:
    """The error that a bound caller is told.

    There is one answer for a message, an attachment or an id that does not exist, that is hidden, that is another's and
    that is made up; and one for a mail server's failure, whatever the server said.
    """
    if error.code is Code.NOT_FOUND and "folders" not in error.details:
        return not_found(_NOTHING)
    if error.code is Code.VALIDATION_ERROR and error.details.get("argument") in _CURSORS:
        return GatewayError(Code.INVALID_CURSOR, _NO_CURSOR, argument=error.details["argument"])
    if error.code is Code.IMAP_ERROR or (error.code is Code.CONFLICT and error.details.keys() <= {"mailbox"}):
        return GatewayError(Code.UNAVAILABLE, _FAILED, reason="mail_server", retry_after=5)
    if error.code is Code.CONFLICT and "labels" in error.details:
        return GatewayError(Code.CONFLICT, _NO_LABELS, argument=error.details["argument"])
    return error


def no_such_folder(visible: Sequence[str], argument: str = "folder") -> GatewayError:
    """A folder that is hidden is one that does not exist; those that may be seen are told in one order."""
    message = "There is no folder of that name. Use a name that list_folders returns."
    return not_found(message, argument=argument, folders=sorted(visible))


def denied(what: str, **details: object) -> GatewayError:
    """What the policy does not allow this caller, which is nothing about the mail at hand."""
    return GatewayError(Code.POLICY_DENIED, f"The policy of this token does not allow {what}.", **details)
