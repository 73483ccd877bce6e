"""Which pair to ask about next."""
