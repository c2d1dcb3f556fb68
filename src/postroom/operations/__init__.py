"""What the product does: each operation declared once, and the one corridor that runs them."""
