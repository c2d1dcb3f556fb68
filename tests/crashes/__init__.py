"""What is left when the gateway's process ends by SIGKILL, at whatever step of a call that happens."""
