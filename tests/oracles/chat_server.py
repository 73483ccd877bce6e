"""A chat server on this machine that answers rightly, wrongly, or not at all."""

from __future__ import annotations

import json
import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def reply_of(content, **usage):
    """Return the body of a reply of a server."""
    reply = {"choices": [{"message": {"role": "assistant", "content": content}}]}
    return {**reply, "usage": usage} if usage else reply


def asked_of(body):
    """Return the questions in a request."""
    content = body["messages"][1]["content"]
    text = content if isinstance(content, str) else content[0]["text"]
    return json.loads(text)["questions"]


def answers_of(labels):
    """Return what a model writes."""
    answers = [{"question": k, "belongs_to": label} for k, label in enumerate(labels, start=1)]
    return json.dumps({"answers": answers})


def text_of(item):
    return item if isinstance(item, str) else json.dumps(item)


def first_word(item):
    return re.findall(r"[a-z]+", text_of(item).lower())[0]


def by_first_word(question):
    """Answer as a good model does: an item belongs where the first word is the same."""
    word = first_word(question["item"])
    for group in question["groups"]:
        if group["examples"] and first_word(group["examples"][0]) == word:
            return group["label"]
    return "none of these"


class ChatServerForTests(ThreadingHTTPServer):
    """Replies by `reply(server, body)`: a dictionary, or a function of the handler."""

    daemon_threads = True

    def __init__(self, reply=None):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.reply = reply or good
        self.bodies, self.headers = [], []
        self.release = threading.Event()  # what is held up waits for this

    @property
    def base_url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request, client_address):
        """Say nothing about clients that went away."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ChatServerForTests

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.bodies.append(body)
        self.server.headers.append(dict(self.headers))
        reply = self.server.reply(self.server, body)
        if callable(reply):
            reply(self)
        else:
            self.send(200, json.dumps(reply).encode())

    def send(self, status, data, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def good(_server, body):
    """Reply as a good model does."""
    return reply_of(answers_of(map(by_first_word, asked_of(body))))


@contextmanager
def served(reply=None):
    """Run a server while the block runs."""
    server = ChatServerForTests(reply)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.release.set()
        server.shutdown()
        server.server_close()
        thread.join()
