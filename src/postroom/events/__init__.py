"""New mail reaches people: watchers find what happened, couriers tell it."""
