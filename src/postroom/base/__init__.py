"""Words everybody uses: errors, time, secrets, who is asking, sealed ids."""
