"""Constrained 1-spectral clustering, function by function (Rangapuram and Hein, 2012)."""
