"""Long runs that hurt: what must hold is checked while gateways, connections, receivers and databases die at random.

    python -m soak --arrivals 10000 --store postgresql --gateways 3

Everything is on loopback and in folders of its own, and ends by itself. A short run of the same is a test.
"""
