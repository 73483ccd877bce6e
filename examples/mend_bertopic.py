"""Mend the topics of BERTopic and return them with merge_topics and update_topics.

pip install bertopic
"""

import numpy as np
from bertopic import BERTopic
from bertopic.dimensionality import BaseDimensionalityReduction
from sklearn.cluster import HDBSCAN
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import normalize

from likewise import LabelOracle, Likewise, run
from likewise.project import mended_labels

WORDS = {
    "bread": ("baking", "oven dough flour yeast crust knead rise loaf"),
    "cake": ("baking", "sugar cream layer icing sponge whisk vanilla tin"),
    "cycling": ("cycling", "bike wheel pedal chain helmet gear climb sprint"),
    "gardens": ("gardens", "seed soil plant bloom prune root leaf compost"),
    "sailing": ("sailing", "boat wind sail anchor mast harbor tide crew"),
}


def documents(n=300, seed=0):
    """Return short texts and their topics; bread and cake are both baking."""
    rng = np.random.default_rng(seed)
    shared = ["day", "good", "time", "new", "old", "place", "work", "hand", "morning", "light"]
    about = list(WORDS.values())
    texts, kinds = [], []
    for k in range(n):
        kind, own = about[k % len(about)]
        texts.append(" ".join([*rng.choice(own.split(), 3), *rng.choice(shared, 5)]))
        kinds.append(kind)
    return texts, np.unique(kinds, return_inverse=True)[1]


def main():
    texts, truth = documents()
    # Any embeddings work; those of a model for sentences are usual.
    tfidf = TfidfVectorizer().fit_transform(texts)
    embeddings = normalize(TruncatedSVD(20, random_state=0).fit_transform(tfidf))
    model = BERTopic(
        embedding_model=None,
        umap_model=BaseDimensionalityReduction(),
        hdbscan_model=HDBSCAN(min_cluster_size=5, min_samples=2, copy=True),
        vectorizer_model=CountVectorizer(),
    )
    topics, _ = model.fit_transform(texts, embeddings)
    score = adjusted_rand_score(truth, topics)
    n_topics = len(set(topics) - {-1})
    print(f"BERTopic: {n_topics} topics, {topics.count(-1)} outliers, ARI {score:.2f}")

    # The topics are a belief. Here the truth answers; a person would use the page (session.widget).
    session = Likewise(max_queries=40, random_state=0, metric="cosine").start(
        embeddings, groups=topics
    )
    run(session, LabelOracle(truth))
    mended = np.array(mended_labels(session))
    print(f"after {session.n_asked} answers: ARI {adjusted_rand_score(truth, mended):.2f}")

    # Merge topics whose documents are now in one group; BERTopic renumbers its topics.
    into = {}
    for topic in sorted(set(topics) - {-1}):
        now = mended[np.array(topics) == topic]
        into.setdefault(int(np.bincount(now).argmax()), []).append(topic)
    together = [some for some in into.values() if len(some) > 1]
    if together:
        model.merge_topics(texts, together)
    print(f"merge_topics({together}): {len(set(model.topics_) - {-1})} topics are left")

    # Pass on documents that moved and outliers that were placed.
    model.update_topics(texts, topics=mended.tolist(), vectorizer_model=CountVectorizer())
    words = {topic: [word for word, _ in model.get_topic(topic)[:3]] for topic in set(mended)}
    for topic, some in sorted(words.items()):
        print(f"topic {topic}: {', '.join(some)}, {np.sum(mended == topic)} texts")
    return model, mended, truth


if __name__ == "__main__":
    main()
