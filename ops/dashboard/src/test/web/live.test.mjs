// Run by BrowserScriptTest: node --test. The server and the browser's document are small stand-ins.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { follow } from "../../main/web/live.js";
import { route } from "../../main/web/route.js";

const LONG = 60_000;
let calls;

beforeEach(() => {
  globalThis.document = Object.assign(new EventTarget(), { hidden: false });
  calls = 0;
});

function hide(hidden) {
  document.hidden = hidden;
  document.dispatchEvent(new Event("visibilitychange"));
}

/** Each request gets the next answer, and the last one again and again. */
function serve(...answers) {
  globalThis.fetch = async (_, { signal }) => {
    const answer = answers[Math.min(calls++, answers.length - 1)];
    return typeof answer === "number"
      ? new Response(JSON.stringify({ detail: "no", action: "wait" }), { status: answer })
      : new Response(stream(answer, signal), { status: 200 });
  };
}

/** Sends a text, and then nothing: the connection stays open. */
function stream(text, signal) {
  return new ReadableStream({
    start(to) {
      to.enqueue(new TextEncoder().encode(text));
      signal.addEventListener("abort", () => to.error(signal.reason));
    },
  });
}

const page = (n) => `event: page\ndata: {"n":${n}}\n\n`;

/** Follows and writes down what comes; `until` waits for a line. */
function followed(silentMs) {
  const seen = [];
  let look = () => {};
  const note = (line) => {
    seen.push(line);
    look();
  };
  const end = follow({ page: "node" }, "", {
    page: (json) => note(`page ${json.n}`), gap: (n) => note(`gap ${n}`), lost: () => note("lost"), paused: () => note("paused"),
    refused: (status) => note(`refused ${status}`),
  }, silentMs);
  const until = (line) => new Promise((go) => {
    look = () => seen.includes(line) && go();
    look();
  });
  return { seen, until, end };
}

test("a node that is not there yet is asked for again", { timeout: LONG }, async () => {
  serve(404, 503, page(1));
  const { seen, until, end } = followed(LONG);
  await until("page 1");
  end();
  assert.deepEqual(seen, ["refused 404", "refused 503", "page 1"]);
});

test("a request that stays wrong is not repeated", { timeout: LONG }, async () => {
  serve(401, page(1));
  const { until, end } = followed(LONG);
  await until("refused 401");
  // What would wait to ask again does so at once when the page is shown again.
  for (const hidden of [true, false]) {
    await new Promise((go) => setImmediate(go));
    hide(hidden);
  }
  await new Promise((go) => setImmediate(go));
  end();
  assert.equal(calls, 1);
});

test("a stream in which nothing comes is begun again", { timeout: LONG }, async () => {
  serve(page(1), page(2));
  const { seen, until, end } = followed(100);
  await until("page 2");
  end();
  assert.deepEqual(seen, ["page 1", "lost", "page 2"]);
});

test("a hidden page holds no connection", { timeout: LONG }, async () => {
  serve(page(1), page(2));
  const { seen, until, end } = followed(LONG);
  await until("page 1");
  hide(true);
  await until("paused");
  assert.equal(calls, 1);
  hide(false);
  await until("page 2");
  end();
  assert.deepEqual(seen, ["page 1", "paused", "page 2"]);
});

test("an address that was cut in an escape shows a page", () => {
  assert.deepEqual(route("#/node/a%2Fb"), { page: "node", name: "a/b" });
  assert.deepEqual(route("#/node/a%2"), { page: "nodes", name: "" });
  assert.deepEqual(route("#/constructor"), { page: "overview", name: "" });
  assert.deepEqual(route(""), { page: "overview", name: "" });
});
