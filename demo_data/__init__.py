"""Generated demo traces and the generators that make them."""
