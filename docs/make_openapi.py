"""Write docs/openapi.json: python docs/make_openapi.py

The description of the JSON API is kept here by hand; a test compares it with the routes and with
what the API answers.
"""

import json
from pathlib import Path

WHOLE = {"type": "integer"}
TEXT = {"type": "string"}
YES_OR_NO = {"type": "boolean"}
HOW = {"type": "string", "enum": ["said", "learned", "open"]}
ANSWER = {"type": "string", "enum": ["same", "different", "unsure"]}


COUNTS = {
    "size": WHOLE,
    "n_said": {**WHOLE, "description": "items that answers put there"},
    "n_open": {**WHOLE, "description": "items about which nothing is known; others are learned"},
    "n_doubtful": {**WHOLE, "description": "items that are learned with little certainty"},
    "n_wrong": {
        "type": ["integer", "null"],
        "description": "about how many items are in the wrong group, where that can be told; all "
        "groups together have as many as the completeness says",
    },
}


def ref(name):
    return {"$ref": f"#/components/schemas/{name}"}


def array(items):
    return {"type": "array", "items": items}


def shape(required, **optional):
    return {
        "type": "object",
        "properties": {**required, **optional},
        "required": list(required),
    }


STANDING = {
    "progress": ref("Progress"),
    "outlook": ref("Outlook"),
    "completeness": {"oneOf": [ref("Completeness"), {"type": "null"}]},
    "abouts": {
        "type": "object",
        "additionalProperties": TEXT,
        "description": "what distinguishes the groups of the question that have no name, by id",
    },
    "seen": shape(
        {
            "aspects": array(shape({"name": TEXT, "description": TEXT})),
            "better": {**TEXT, "description": "how to get better features, or nothing"},
            "notes": {**array(TEXT), "description": "what was guessed, left out or not read"},
        }
    ),
    "aspects": {**array(ref("Aspect")), "description": "of the items; none if they have none"},
    "grouped_by": {**TEXT, "description": "by which of several aspects, in words, once known"},
    "model": {"oneOf": [ref("Model"), {"type": "null"}]},
    "suggestion": {"oneOf": [ref("Suggestion"), {"type": "null"}]},
}
ASKED = {
    "position": {**WHOLE, "description": "of the log; every change must repeat it"},
    "is_done": YES_OR_NO,
    "instruction": {**TEXT, "description": "what belongs together, in the person's words"},
    "question": {"oneOf": [ref("Question"), {"type": "null"}]},
    "can_undo": YES_OR_NO,
    "can_redo": YES_OR_NO,
    "has_map": YES_OR_NO,
    "you": {
        "oneOf": [shape({"name": TEXT, "can_answer": YES_OR_NO}), {"type": "null"}],
        "description": "whose token came with the request, where people have names",
    },
}
CALLED = {
    "number": {"type": ["integer", "null"], "description": "of its key; null before it has one"},
    "key": {**TEXT, "description": "what to press for it, the same as long as it is there"},
    "name": TEXT,
}

SCHEMAS = {
    "Thing": {
        **shape(
            {"row": WHOLE, "id": TEXT, "title": TEXT, "kind": TEXT},
            image={
                **TEXT,
                "description": "address of its picture; add &size=small for a thumbnail",
            },
            spark={**array(WHOLE), "description": "a series in at most 48 points from 0 to 100"},
            line={**TEXT, "description": "the beginning of a text or row"},
            heading={**TEXT, "description": "its name, or what stands for it above its content"},
            view={
                "type": "object",
                "description": "all that is shown of it: any of picture, channels, text, fields",
            },
            n_copies={**WHOLE, "description": "how many other items have the same content"},
            copies={**array(TEXT), "description": "the ids of these"},
            group={**WHOLE, "description": "the id of its group"},
            number={"type": ["integer", "null"], "description": "that of the key of its group"},
            key={**TEXT, "description": "that of its group"},
            name={**TEXT, "description": "that of its group"},
            is_marked={**YES_OR_NO, "description": "whether it was said not to fit"},
            how={**HOW, "description": "how it is known to which group it belongs"},
            certainty={"type": ["number", "null"], "description": "1 for what was said"},
        ),
        "description": "One item. `row` names it in every other call.",
    },
    "Question": {
        **shape(
            {
                "kind": {"type": "string", "enum": ["pair", "choice"]},
                "number": WHOLE,
            },
            left=ref("Thing"),
            right=ref("Thing"),
            fellows={
                **array(array(ref("Thing"))),
                "description": "items that answers put together with left, and with right",
            },
            distance={"type": ["number", "null"], "description": "only if asked for"},
            item=ref("Thing"),
            groups=array(ref("Shown")),
            fields={
                **array({"type": "object"}),
                "description": "of rows: name, value and at of the item, groups; telling first",
            },
        ),
        "description": "A pair has left and right; a choice has an item and groups.",
    },
    "Shown": {
        **shape(
            {
                **CALLED,
                "size": WHOLE,
                "group": {"type": ["integer", "null"], "description": "null without items"},
                "shown": array(ref("Thing")),
            }
        ),
        "description": "A group as a question shows it. One that is known by its name only has no "
        "items; choosing it begins it.",
    },
    "Suggestion": {
        **shape({"left": ref("Shown"), "right": ref("Shown"), "proba": {"type": "number"}}),
        "description": "Two groups that may be one; /api/suggestion takes the first row of each.",
    },
    "Changes": {
        **shape({"n": WHOLE, "n_following": WHOLE, "following": array(ref("Thing"))}),
        "description": "How many items change groups, and which follow without being named.",
    },
    "Progress": shape(
        {
            "answered": WHOLE,
            "unsure": WHOLE,
            "settled_for_free": WHOLE,
            "at_most": {**WHOLE, "description": "never grows on a yes or no"},
            "estimate": {
                "type": ["integer", "null"],
                "description": "about how many will follow, where that is known",
            },
            "has_more": {**YES_OR_NO, "description": "whether a question follows"},
            "n_groups": WHOLE,
            "line": TEXT,
        }
    ),
    "Outlook": {
        **shape(
            {
                "quality": TEXT,
                "more": TEXT,
                "can_stop": YES_OR_NO,
                "can_rebuild": YES_OR_NO,
                "line": TEXT,
            }
        ),
        "description": "How good the groups are and how much is left, in words.",
    },
    "Aspect": {
        **shape(
            {
                "name": TEXT,
                "weight": {
                    "type": ["number", "null"],
                    "description": "its share of what is learned; null before anything is known",
                },
                "is_on": YES_OR_NO,
            }
        ),
        "description": "What items can be alike in, such as the content of pictures.",
    },
    "Completeness": {
        **shape(
            {
                "estimate": {"type": "number", "description": "share of items in the right group"},
                "at_least": {"type": "number", "description": "a share that is hardly less"},
                "unmet": {**WHOLE, "description": "how many groups are guesses"},
                "one_group": {
                    "type": "number",
                    "description": "the share that would be right if all items were one group",
                },
                "changing": {
                    "type": "number",
                    "description": "the share of items that the last twenty asked about moved",
                },
                "curve": {
                    **array(array({"type": "number"})),
                    "description": "the estimate after some numbers of items asked about",
                },
                "foreseen": {
                    **array(WHOLE),
                    "description": "how many items were where answers put them, of how many",
                },
            }
        ),
        "description": "How complete the groups are, where the strategy can tell. An estimate.",
    },
    "Standing": shape({"position": WHOLE, **STANDING}),
    "Next": {
        **shape(ASKED, **STANDING),
        "description": "The open question. How far the session is comes along only at its end.",
    },
    "State": shape(
        ASKED | STANDING,
        n_overruled={
            **WHOLE,
            "description": "after the result was mended: earlier answers that it overruled",
        },
        changes={**ref("Changes"), "description": "after the result was mended"},
        answers_behind={
            **array(WHOLE),
            "description": "after /api/misfit: answers by which the item is in its group, if any",
        },
    ),
    "Ahead": shape(
        {
            "position": WHOLE,
            "next": {
                "type": "object",
                "description": "by answer, the question that would follow, or null",
                "additionalProperties": {"oneOf": [ref("Question"), {"type": "null"}]},
            },
        }
    ),
    "Event": shape(
        {
            "number": WHOLE,
            "answer": ANSWER,
            "source": {"type": "string", "enum": ["asked", "extra", "sampled", "known", "mended"]},
            "by": {"type": ["string", "null"], "description": "who said it"},
            "at": {"type": ["string", "null"], "description": "when, in UTC"},
            "seconds": {"type": ["number", "null"], "description": "how long that took"},
            "left": ref("Thing"),
            "right": ref("Thing"),
            "links": array(shape({"left": WHOLE, "right": WHOLE, "answer": ANSWER})),
            "groups": {**array(ref("Shown")), "description": "what a choice showed"},
            "name": {"type": ["string", "null"], "description": "of the group that it began"},
        }
    ),
    "Model": shape(
        {
            "name": TEXT,
            "by": TEXT,
            "n": WHOLE,
            "n_unsure": WHOLE,
            "n_checked": WHOLE,
            "right": {"type": ["number", "null"], "description": "the share, by checks"},
            "at_least": {"type": "number", "description": "with a confidence of 95%"},
            "is_working": YES_OR_NO,
            "line": {**TEXT, "description": "how it goes, in words"},
            "warning": {**TEXT, "description": "why it stopped, or that it gets worse"},
        }
    ),
    "History": shape(
        {
            "position": WHOLE,
            "n": WHOLE,
            "events": array(ref("Event")),
            "answerers": array(
                shape({"by": {"type": ["string", "null"]}, "n": WHOLE, "is_aside": YES_OR_NO})
            ),
            "checks": {
                **array(
                    shape(
                        {
                            "after": {**WHOLE, "description": "the last answer before it"},
                            "source": {"type": "string", "enum": ["check", "repeat"]},
                            "answer": ANSWER,
                            "is_same": {
                                "type": ["boolean", "null"],
                                "description": "of a repeat: whether the answer is as before",
                            },
                            "by": {"type": ["string", "null"]},
                            "at": {"type": ["string", "null"]},
                            "left": ref("Thing"),
                            "right": ref("Thing"),
                        }
                    )
                ),
                "description": "answers that change no group, made after these",
            },
        }
    ),
    "Preview": shape(
        {
            "position": WHOLE,
            "preview": shape(
                {
                    "number": WHOLE,
                    "answer": ANSWER,
                    "n_kept": WHOLE,
                    "n_dropped": WHOLE,
                    "words": TEXT,
                    "dropped": array(ref("Event")),
                }
            ),
        }
    ),
    "Group": shape(
        {
            "id": WHOLE,
            **CALLED,
            **COUNTS,
            "n_super_instances": WHOLE,
            "summary": {**TEXT, "description": "a few words on what its items share, or nothing"},
            "typical": array(ref("Thing")),
        }
    ),
    "Groups": shape(
        {"position": WHOLE, "n": WHOLE, "total": shape(COUNTS), "groups": array(ref("Group"))}
    ),
    "Members": shape(
        {"position": WHOLE, "n": WHOLE, "members": array(ref("Thing"))}, group=ref("Group")
    ),
    "Instruction": shape({"position": WHOLE, "instruction": TEXT}),
    "Parts": shape(
        {
            "position": WHOLE,
            "parts": array(shape({"size": WHOLE, "shown": array(ref("Thing"))})),
        }
    ),
    "Named": shape({"position": WHOLE, "group": ref("Group")}),
    "Item": shape({"position": WHOLE, "item": ref("Thing"), "group": ref("Group")}),
    "Map": shape(
        {
            "position": WHOLE,
            "points": {
                **array(array(WHOLE)),
                "description": "row, x, y (0 to 1000), group id, how (0 said, 1 learned, 2 open)",
            },
            "layout": {
                "type": "string",
                "enum": ["learned", "alike"],
                "description": "by what tells the groups apart, or by how alike items are",
            },
            "n": {**WHOLE, "description": "of all items; the points may be a sample"},
            "n_groups": WHOLE,
            "groups": {
                **array(ref("Group")),
                "description": "the largest twenty",
            },
        }
    ),
    "Names": shape(
        {
            "position": WHOLE,
            "n": WHOLE,
            "names": array(
                shape(
                    {
                        "target": {**TEXT, "description": "what they would become"},
                        "likeness": {"type": "number"},
                        "parts": array(
                            shape(
                                {
                                    "row": WHOLE,
                                    "names": array(
                                        shape({"row": WHOLE, "name": TEXT, "count": WHOLE})
                                    ),
                                }
                            )
                        ),
                    }
                )
            ),
        }
    ),
    "Decided": shape({"position": WHOLE, "n_groups": WHOLE}),
    "Checks": shape(
        {
            "position": WHOLE,
            "checks": array(
                shape(
                    {
                        "left": ref("Thing"),
                        "right": ref("Thing"),
                        "said": {"type": ["string", "null"]},
                    },
                    expected={**ANSWER, "description": "told after the answer"},
                    because={**array(WHOLE), "description": "the answers that imply it"},
                )
            ),
            "repeats": {
                **array(
                    shape(
                        {
                            "number": {**WHOLE, "description": "of the answer it was given"},
                            "question": ref("Question"),
                            "said": {"type": ["string", "null"]},
                        },
                        is_same={
                            "type": ["boolean", "null"],
                            "description": "whether the answer is as before; null for not sure",
                        },
                    )
                ),
                "description": "earlier questions, the other way round",
            },
            "n_repeated": {**WHOLE, "description": "how many were answered again, in all"},
            "n_agreeing": {**WHOLE, "description": "how many of them in the same way"},
            "n": WHOLE,
            "n_wrong": WHOLE,
            "interval": {**array({"type": "number"}), "description": "95 %, of the share wrong"},
        }
    ),
    "Unsure": shape(
        {
            "position": WHOLE,
            "n": WHOLE,
            "n_together": {**WHOLE, "description": "pairs that are in one group nevertheless"},
            "pairs": array(
                shape({"left": ref("Thing"), "right": ref("Thing"), "is_together": YES_OR_NO})
            ),
        }
    ),
    "ModelReport": shape({"position": WHOLE, "model": {"oneOf": [ref("Model"), {"type": "null"}]}}),
    "Rest": shape(
        {
            "rest": {
                "oneOf": [
                    shape(
                        {
                            "n": WHOLE,
                            "n_so_far": {
                                **WHOLE,
                                "description": "that questions and groups are about",
                            },
                            "n_described": WHOLE,
                            "seconds_left": {"type": ["integer", "null"]},
                            "error": {
                                **TEXT,
                                "description": "why the others cannot join, or nothing",
                            },
                            "line": TEXT,
                        }
                    ),
                    {"type": "null"},
                ]
            }
        }
    ),
    "Agreement": shape(
        {
            "position": WHOLE,
            "pairs": array(
                shape(
                    {
                        "people": array(TEXT),
                        "n": {**WHOLE, "description": "questions that both answered"},
                        "n_same": WHOLE,
                        "n_unsure": {**WHOLE, "description": "those not counted in n"},
                        "interval": {
                            **array({"type": "number"}),
                            "description": "95 %, of the share they agree on",
                        },
                        "kappa": {"type": ["number", "null"], "description": "Cohen's"},
                        "kappa_interval": {"type": ["array", "null"], "description": "95 %"},
                    }
                )
            ),
            "n_decided": WHOLE,
            "disagreements": array(
                shape(
                    {
                        "disagreement": WHOLE,
                        "item": ref("Thing"),
                        "groups": array(ref("Shown")),
                        "said": array(
                            shape(
                                {
                                    "by": TEXT,
                                    "chosen": {
                                        **array(WHOLE),
                                        "description": "places of groups; none is none of these",
                                    },
                                }
                            )
                        ),
                    }
                )
            ),
        }
    ),
    "Formats": shape({"position": WHOLE, "formats": array(shape({"format": TEXT, "title": TEXT}))}),
    "Error": shape({"error": TEXT}, is_stale=YES_OR_NO),
}


def reply(schema):
    return {"description": "done", "content": {"application/json": {"schema": ref(schema)}}}


def fault(words):
    return {"description": words, "content": {"application/json": {"schema": ref("Error")}}}


def parameter(name, place, schema, words):
    return {
        "name": name,
        "in": place,
        "required": place == "path",
        "schema": schema,
        "description": words,
    }


def look(summary, schema, *parameters):
    return {
        "summary": summary,
        "parameters": list(parameters),
        "responses": {"200": reply(schema), "400": fault("the request makes no sense")},
    }


def change(summary, schema, required, **optional):
    body = shape({"position": WHOLE, **required}, **optional)
    return {
        "summary": summary,
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": {
            "200": reply(schema),
            "400": fault("the request makes no sense; nothing was changed"),
            "403": fault("no token, or from another site"),
            "409": fault("the log has moved on; nothing was changed. Look again."),
        },
    }


def file(summary, kinds, *parameters):
    content = {kind: {"schema": {"type": "string", "format": "binary"}} for kind in kinds}
    return {
        "summary": summary,
        "parameters": list(parameters),
        "responses": {"200": {"description": "the file", "content": content}},
    }


ROW = parameter("row", "path", WHOLE, "the item")
LIMIT = parameter("limit", "query", WHOLE, "how many, at most 500")
OFFSET = parameter("offset", "query", WHOLE, "how many to leave out")
FINDING = (
    parameter("text", "query", TEXT, "only items with this in their name, text or fields"),
    parameter("how", "query", {"enum": ["said", "learned", "open", "doubt"]}, "only those"),
    parameter("order", "query", {"enum": ["doubt", "name"]}, "doubtful ones first, or by name"),
    LIMIT,
    OFFSET,
)
PREVIEW = {**YES_OR_NO, "description": "only say what would change: the reply is a Changes"}

PATHS = {
    "/api/query": {
        "get": look(
            "The open question and the progress",
            "State",
            parameter("distance", "query", WHOLE, "1 to be told how far apart the two are"),
        )
    },
    "/api/progress": {"get": look("How far the session is, how good the groups", "Standing")},
    "/api/ahead": {"get": look("The question that would follow each answer", "Ahead")},
    "/api/answer": {
        "post": change(
            "Answer the open question",
            "Next",
            {"question": WHOLE},
            answer={**ANSWER, "description": "to a pair"},
            chosen={
                "type": ["integer", "array", "string", "null"],
                "description": "of a choice: the place of a group from 0, several, null for none "
                'of these, or "unsure"',
            },
            seconds={"type": "number", "description": "how long the answer took; at most a day"},
            distance=YES_OR_NO,
        )
    },
    "/api/settle": {
        "post": change(
            "Say something about two items without being asked",
            "State",
            {"left": WHOLE, "right": WHOLE, "answer": ANSWER},
        )
    },
    "/api/undo": {"post": change("Take back the last change", "Next", {})},
    "/api/redo": {"post": change("Do again what was taken back", "Next", {})},
    "/api/history": {
        "get": look(
            "The answers, the latest first",
            "History",
            LIMIT,
            parameter("before", "query", WHOLE, "only answers with a smaller number"),
        )
    },
    "/api/revise": {
        "post": {
            **change(
                "Preview the change of an earlier answer, or apply it",
                "Preview",
                {"number": WHOLE},
                answer=ANSWER,
                chosen={
                    "type": ["integer", "array", "string", "null"],
                    "description": "as for /api/answer",
                },
                apply=YES_OR_NO,
            ),
            "description": "With apply=true the answer is a State.",
        }
    },
    "/api/set-aside": {
        "post": {
            **change(
                "Ignore all that somebody answered",
                "State",
                {"by": TEXT},
                is_aside=YES_OR_NO,
            ),
            "description": "With is_aside=false it counts again.",
        }
    },
    "/api/agreement": {"get": look("How often people agree, and where they do not", "Agreement")},
    "/api/decide": {
        "post": change(
            "Say who is right where two people disagree; that is certain",
            "State",
            {"disagreement": WHOLE},
            chosen={
                "type": ["integer", "array", "null"],
                "description": "the place of a group from 0, several, or null for none of these",
            },
        )
    },
    "/api/groups": {
        "get": look("Groups, those that answers have joined first", "Groups", LIMIT, OFFSET)
    },
    "/api/group/{id}": {
        "get": look(
            "One group with its members, typical ones first",
            "Members",
            parameter("id", "path", WHOLE, "the group"),
            *FINDING,
        )
    },
    "/api/find": {
        "get": look(
            "Items of all groups",
            "Members",
            parameter("rows", "query", TEXT, "only these, such as 3,14,15"),
            *FINDING,
        )
    },
    "/api/instruction": {
        "post": change("Say in words what belongs together", "Instruction", {"instruction": TEXT})
    },
    "/api/name": {"post": change("Name a group", "Named", {"group": WHOLE, "name": TEXT})},
    "/api/move": {
        "post": change(
            "Move items to another group, a new one, or only out of where they are",
            "State",
            {"rows": array(WHOLE)},
            to={
                "type": ["integer", "string", "null"],
                "description": 'a group, "new", or null for not here',
            },
            preview=PREVIEW,
        )
    },
    "/api/merge": {
        "post": change("Make groups one", "State", {"groups": array(WHOLE)}, preview=PREVIEW)
    },
    "/api/suggestion": {
        "post": change(
            "Say whether two groups that may be one are: same makes them one, different keeps "
            "them apart for good",
            "State",
            {"left": WHOLE, "right": WHOLE, "answer": ANSWER},
        )
    },
    "/api/group/{id}/parts": {
        "get": look(
            "The two most likely parts of a group", "Parts", parameter("id", "path", WHOLE, "it")
        )
    },
    "/api/split": {
        "post": change(
            "Split a group into parts, each named by items",
            "State",
            {"parts": array(array(WHOLE))},
            preview=PREVIEW,
        )
    },
    "/api/confirm": {
        "post": change(
            "Say which items belong to a group and which do not",
            "State",
            {"group": WHOLE, "right": array(WHOLE), "wrong": array(WHOLE)},
        )
    },
    "/api/misfit": {
        "post": change(
            "Say that an item does not fit, and be asked about it", "State", {"row": WHOLE}
        )
    },
    "/api/aspect": {
        "post": change(
            "Switch an aspect of the items off, so that nothing is learned from it, or on again",
            "State",
            {"aspect": TEXT, "is_on": YES_OR_NO},
        )
    },
    "/api/checks": {
        "get": look("Questions about pairs settled without asking", "Checks"),
        "post": change(
            "Answer one of them", "Checks", {"left": WHOLE, "right": WHOLE, "answer": ANSWER}
        ),
    },
    "/api/names": {
        "get": look(
            "Names of a column that may be one, the most alike first",
            "Names",
            parameter("least", "query", WHOLE, "how alike, in percent; by default 50"),
            LIMIT,
            OFFSET,
        ),
        "post": change(
            "Merge names, or keep each apart from the others",
            "Decided",
            {"rows": array(WHOLE)},
            name={**TEXT, "description": "what they become, if not the most frequent of them"},
            are_one={**YES_OR_NO, "description": "false to keep them apart; by default true"},
        ),
    },
    "/api/repeats": {
        "post": change(
            "Answer one of the earlier questions that are asked again",
            "Checks",
            {"number": WHOLE},
            answer=ANSWER,
            chosen={
                "type": ["integer", "array", "string", "null"],
                "description": "as for /api/answer",
            },
            seconds={"type": "number"},
        )
    },
    "/api/unsure": {"get": look("Pairs of groups that stayed undecided", "Unsure")},
    "/api/rebuild": {
        "post": change("Go on asking where doubt is left, all answers kept", "State", {})
    },
    "/api/map": {
        "get": look(
            "Two coordinates per item",
            "Map",
            parameter("prepare", "query", WHOLE, "1 to have it laid out and be told only n"),
        )
    },
    "/api/item/{row}": {"get": look("One item and its group", "Item", ROW)},
    "/api/item/{row}/image": {
        "get": file(
            "The picture of an item, decoded and encoded again",
            ["image/webp"],
            ROW,
            parameter("size", "query", {"enum": ["small", "large"]}, "160 or 1024 pixels"),
        )
    },
    "/api/export/{format}": {
        "get": file(
            "The result as a file",
            ["text/csv", "application/vnd.apache.parquet", "application/x-ndjson"],
            parameter("format", "path", TEXT, "one of those that /api/formats lists"),
        )
    },
    "/api/rest": {"get": look("How many items a session is about, if others are to join", "Rest")},
    "/api/model": {"get": look("What a model has done that answers, too", "ModelReport")},
    "/api/formats": {"get": look("The formats in which the result can be had", "Formats")},
}

DOCUMENT = {
    "openapi": "3.1.0",
    "info": {
        "title": "likewise",
        "version": "1",
        "description": "Ask and tell over HTTP. See docs/api.md.",
    },
    "security": [{"token": []}],
    "paths": PATHS,
    "components": {
        "schemas": SCHEMAS,
        "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
    },
}


def text():
    return json.dumps(DOCUMENT, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    Path(__file__).with_name("openapi.json").write_text(text(), encoding="utf-8")
