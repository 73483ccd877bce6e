"""Answers, what they imply, and the session that asks for them.

Nothing here reads a file, a clock or a global random state, and nothing but the standard library
and numpy is imported.
"""
