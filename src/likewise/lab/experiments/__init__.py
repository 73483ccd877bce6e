"""The paper's experiments: protocol, statistics, tables, figures."""
