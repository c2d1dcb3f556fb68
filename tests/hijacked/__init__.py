"""An adversary that holds an agent's token, against real servers."""
