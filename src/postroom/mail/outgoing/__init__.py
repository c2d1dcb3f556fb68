"""Mail that leaves: what is to be said and to whom, written as octets that say nothing else."""
