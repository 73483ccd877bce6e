"""Other methods of active clustering, from their papers."""
