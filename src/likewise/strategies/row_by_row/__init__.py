"""The strategy of `Likewise`: one row after another, coarse regions first, then doubtful rows.

`strategy` decides what to ask when, `questions` how a question looks, `checks` which answers to ask
for again. `known` has what the answers say, `evidence` which of them count. `regions`, `cells` and
`budget` cut the data.
"""
