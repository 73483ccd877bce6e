// Talk to the session. Every change says at which position of the log it was decided.

export class ApiError extends Error {
  constructor(/** @type {string} */ message, /** @type {number} */ status, reply = /** @type {any} */ ({})) {
    super(message);
    this.reply = reply;
    this.isStale = status === 409;
    this.isGone = status === 0;
    // The session is not open: not yet, or for a reason.
    this.isClosed = status === 503 || reply.has_failed;
  }
}

// How calls travel: over HTTP, unless the frame around this page has another way.
const byHttp = {
  async call(/** @type {string} */ path, /** @type {any} */ body, /** @type {AbortSignal=} */ signal) {
    const change = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    const reply = await fetch(`api/${path}`, { credentials: "same-origin", signal, ...(body && change) });
    return { status: reply.status, body: await reply.json() };
  },
  show(/** @type {HTMLImageElement} */ image, /** @type {string} */ address) {
    image.src = address;
  },
};
const way = window.frameElement?.likewise ?? byHttp;

/** @type {(path: string, body?: any, signal?: AbortSignal) => Promise<any>} */
export async function call(path, body, signal) {
  const reply = await way.call(path, body, signal).catch((/** @type {Error} */ error) => {
    throw error.name === "AbortError" ? error : new ApiError("The server does not answer.", 0);
  });
  if (reply.status >= 400) throw new ApiError(reply.body.error ?? `The server says ${reply.status}.`, reply.status, reply.body);
  return reply.body;
}

/** @type {<Path extends string>(path: Path, signal?: AbortSignal) => Promise<Reply<Path>>} */
export const get = (path, signal) => call(path, undefined, signal);

/** Let an image element show the picture of an item. @type {(image: HTMLImageElement, address: string) => HTMLImageElement} */
export function showPicture(image, address) {
  way.show(image, address);
  return image;
}
