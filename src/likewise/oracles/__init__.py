"""Who answers: labels, a function, a person at the terminal, an earlier session."""
