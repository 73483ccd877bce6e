"""The page itself, however it is served: its document and its calls.

`likewise.web` serves it over HTTP, `likewise.notebook` by messages to the kernel.
"""
