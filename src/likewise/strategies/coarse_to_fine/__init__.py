"""What `Likewise` asks by: coarse regions first, finer ones next, then where there is doubt."""
