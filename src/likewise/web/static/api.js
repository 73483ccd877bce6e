// Talk to the server. Every change says at which position of the log it was decided.

export class ApiError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
  get isStale() {
    return this.status === 409;
  }
  get isGone() {
    return this.status === 0;
  }
}

async function call(path, options) {
  let reply;
  let body;
  try {
    reply = await fetch(`api/${path}`, { credentials: "same-origin", ...options });
    body = await reply.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError("The server does not answer.", 0);
  }
  if (!reply.ok) throw new ApiError(body.error ?? `The server says ${reply.status}.`, reply.status);
  return body;
}

export const get = (path, signal) => call(path, { signal });

export const post = (path, body) =>
  call(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
