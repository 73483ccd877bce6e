"""From rows to super-instances: small groups of rows, each with a row that stands for it."""
