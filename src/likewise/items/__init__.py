"""What a person sees, and features from it."""
