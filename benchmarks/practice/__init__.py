"""Quality per question of `Likewise` on practice sets: tables of KEEL and sentence embeddings."""
