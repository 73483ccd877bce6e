"""The page, independent of how it is served: its document, its JavaScript, and its calls.

`likewise.web` serves it over HTTP, `likewise.notebook` by messages to the kernel.
"""
