"""MPCKMeans, function by function (Bilenko, Basu and Mooney, 2004)."""
