"""One receiver tried out by hand: a signed event by the way that all take, and what came of it in plain words."""

from __future__ import annotations

from postroom.base.clock import Clock
from postroom.config import Config
from postroom.config.webhooks import WebhookConfig
from postroom.events.delivering import deliver
from postroom.events.egress import Egress, Resolve, connect
from postroom.events.endpoint import Endpoint
from postroom.events.posting import Posted
from postroom.events.resolving import Resolver
from postroom.store.deliveries import body_of, new_id

TEST = "webhook.test"
_ADVICE = {
    401: "The receiver does not accept the signature: check that it has the same secret, and reads the body unchanged.",
    403: "The receiver does not accept the signature: check that it has the same secret, and reads the body unchanged.",
    404: "There is nothing at this path: check the url.",
    405: "What is at this path takes no POST: check the url.",
    410: "The receiver wants nothing any more; an event that is answered so disables the webhook.",
}
_REDIRECT = "No redirect is followed: give the final address as url."
_OTHERWISE = "Only a status of 200 to 299 counts as delivered; the receiver's log may say more."
_UNANSWERED = "An event would be attempted again, ten times in three days."


async def try_endpoint(
    config: Config, mailbox: str, settings: WebhookConfig, clock: Clock, resolve: Resolve | None = None
) -> tuple[bool, list[str]]:
    """Whether it was taken, and the lines that say so."""
    now, resolver = clock.now(), Resolver(1)
    own_ports = {listen.port for listen in (config.server.listen, config.server.metrics_listen) if listen is not None}
    egress = Egress(own_ports, resolve or resolver, connect)
    body = body_of(TEST, now, {"mailbox": mailbox}).encode()
    came = await deliver(egress, Endpoint(mailbox, settings), new_id(), body, now)
    resolver.close()
    return isinstance(came, Posted) and came.is_taken, list(_told(settings, came))


def _told(settings: WebhookConfig, came: Posted | str) -> list[str]:
    where = settings.url.authority
    if isinstance(came, str):
        return [f"Not delivered to {where}: {came}.", _UNANSWERED]
    said = [f'  The receiver says: "{came.said}"'] if came.said else []
    if came.is_taken:
        return [f"Delivered to {where}: it answered {came.status}.", *said]
    advice = _REDIRECT if 300 <= came.status < 400 else _ADVICE.get(came.status, _OTHERWISE)
    return [f"Not delivered to {where}: it answered {came.status}.", *said, advice]
