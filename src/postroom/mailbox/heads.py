"""What was made of heads for one policy, kept so that a list of mail met before costs no second look at it."""

from __future__ import annotations

from collections import OrderedDict

from postroom.mail.model import Head
from postroom.policy.content import Setting
from postroom.policy.contentrules import ContentRules
from postroom.policy.visibility import JudgedHead, judge_head

_MOST = 6_000
_LONGEST = 8 * 1024
"""Octets of header fields past which a head is not worth keeping."""


class KnownHeads:
    """For one policy and one mailbox. What is decided about a message is never kept: that depends on the time."""

    def __init__(self, setting: Setting, rules: ContentRules) -> None:
        self._setting = setting
        self._rules = rules
        self._heads: OrderedDict[int, tuple[Head, JudgedHead]] = OrderedDict()

    def judged(self, head: Head) -> JudgedHead:
        """The head as it may be shown, and what it says about its sender."""
        known = self._heads.get(id(head))
        if known is not None and known[0] is head:
            self._heads.move_to_end(id(head))
            return known[1]
        judged = judge_head(head, self._setting, self._rules)
        if sum(len(field.value) for field in head.fields) <= _LONGEST:
            self._heads[id(head)] = head, judged
            if len(self._heads) > _MOST:
                self._heads.popitem(last=False)
        return judged
