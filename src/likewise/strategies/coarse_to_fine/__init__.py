"""The strategy of `Likewise`: coarse regions first, then finer ones, then doubtful rows."""
