"""Speed, as ratios to a peer or a limit measured in the same run."""
