"""The page without a way to reach it: its document and JavaScript, and the calls they make.

`likewise.web` serves it over HTTP, `likewise.notebook` by messages to the kernel.
"""
