"""Hard mail from the real world with right answers, asked through the product's HTTP API."""
