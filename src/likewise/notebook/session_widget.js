// The page in a frame of its own, so that keys, names and styles are its own as well.
// Its calls go to the kernel as messages; see api.js of the page.

function talker(model) {
  const me = crypto.randomUUID();
  const waiting = new Map();
  const pictures = new Map();
  let n = 0;
  const hear = (reply, buffers) => {
    waiting.get(reply.number)?.({ status: reply.status, body: reply.body, data: buffers?.[0] });
    waiting.delete(reply.number);
  };
  model.on("msg:custom", hear);

  const call = (path, body, signal) => new Promise((resolve, reject) => {
    const number = `${me} ${(n += 1)}`;
    signal?.addEventListener("abort", () => reject(new DOMException("not wanted any more", "AbortError")));
    waiting.set(number, resolve);
    model.send({ number, path, body });
  });

  const fetched = async (address) => {
    const { status, body, data } = await call(address.replace(/^api\//, ""));
    if (status !== 200) throw new Error(body.error);
    return URL.createObjectURL(new Blob([data], { type: body.type }));
  };

  const show = (image, address) => {
    if (!pictures.has(address)) pictures.set(address, fetched(address));
    pictures.get(address).then((url) => (image.src = url), () => pictures.delete(address));
  };

  const stop = () => {
    model.off("msg:custom", hear);
    for (const picture of pictures.values()) picture.then((url) => URL.revokeObjectURL(url), () => {});
  };
  return { call, show, stop };
}

// Whether the notebook is dark shows in the color of its text, whatever notebook it is.
function isDark(el) {
  const [r, g, b] = getComputedStyle(el).color.match(/[\d.]+/g).map(Number);
  return 0.3 * r + 0.6 * g + 0.1 * b > 128;
}

function render({ model, el }) {
  const way = talker(model);
  const hidesStill = document.createElement("style");
  hidesStill.textContent = `#${CSS.escape(model.get("still_id"))} { display: none; }`;
  const frame = document.createElement("iframe");
  frame.title = "likewise: questions and groups";
  frame.style.cssText = `display: block; box-sizing: border-box; width: 100%; height: ${model.get("height")}px; border: 1px solid #8884; border-radius: 8px; resize: vertical;`;
  frame.likewise = way;

  const follow = () => frame.contentDocument?.documentElement?.style.setProperty("color-scheme", isDark(el) ? "dark" : "light");
  const others = (message) => message.changed && frame.contentDocument?.dispatchEvent(new Event("visibilitychange"));
  const theme = new MutationObserver(follow);
  for (const node of [document.documentElement, document.body]) theme.observe(node, { attributes: true });
  frame.addEventListener("load", follow);
  model.on("msg:custom", others);

  frame.srcdoc = model.get("page");
  el.append(hidesStill, frame);
  return () => {
    theme.disconnect();
    model.off("msg:custom", others);
    way.stop();
  };
}

export default { render };
