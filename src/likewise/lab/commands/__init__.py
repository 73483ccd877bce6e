"""The commands `likewise bench` and `likewise data`."""
