"""Data larger than memory or machine."""
