// Takes a picture of every page of a running live page, at desktop and phone width, light and dark: node screenshots.mjs URL DIRECTORY
// Chromium by its own protocol (CDP), so nothing is installed beside Node 20.10 and Chromium.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [url, out] = process.argv.slice(2);
const PATIENCE_MS = 30_000;
let nodes;
try {
  // A page that starts with its first visitor knows no nodes yet.
  await until(async () => (nodes = (await (await fetch(new URL("/api/nodes", url))).json()).nodes)?.length > 0, "a node");
} catch (failure) {
  console.error(`no live page with nodes answers at ${url} (${failure.cause?.code ?? failure.message}): start one with ops/tierlog demo, and give the address that it prints`);
  process.exit(2);
}
const SIZES = { desktop: [1366, 900], phone: [390, 844] };
const PAGES = ["overview", "nodes", "requests", "blocks", "operate", "log"];

mkdirSync(out, { recursive: true });
const profile = mkdtempSync(join(tmpdir(), "tierlog-screenshots-"));
const flags = ["--headless=new", "--remote-debugging-port=0", `--user-data-dir=${profile}`, "--disable-gpu", "--no-first-run", "--hide-scrollbars",
  "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"];
if (process.getuid?.() === 0) flags.push("--no-sandbox"); // Chromium refuses to sandbox root
let socket;
const browser = spawn(process.env.CHROMIUM || "chromium", [...flags, "about:blank"], { stdio: ["ignore", "ignore", "pipe"] });

try {
  socket = await connect(browser);
  const { targetInfos } = await socket.call("Target.getTargets");
  const target = targetInfos.find((info) => info.type === "page").targetId;
  const { sessionId } = await socket.call("Target.attachToTarget", { targetId: target, flatten: true });
  const call = (method, params) => socket.call(method, params, sessionId);
  const run = async (expression) => (await call("Runtime.evaluate", { expression, returnByValue: true })).result.value;
  const resize = (size, width, height) => call("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: size === "phone" });
  await call("Page.enable");
  const pages = [...PAGES, `node/${encodeURIComponent(nodes[0].node)}`];
  for (const [size, [width, height]] of Object.entries(SIZES)) {
    for (const theme of ["light", "dark"]) {
      await call("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: theme }] });
      for (const page of pages) {
        await resize(size, width, height);
        await call("Page.navigate", { url: "about:blank" });
        await call("Page.navigate", { url: new URL(`/#/${page}`, url).href });
        await until(() => run("document.querySelector('.link')?.innerText === 'live' && !document.querySelector('main > .empty')"), page);
        const drawn = () => run("document.querySelector('.uplot canvas') !== null");
        if (["overview", "node"].includes(page.split("/")[0])) await until(drawn, `a chart of ${page}`);
        await new Promise((go) => setTimeout(go, 1_500)); // the next page of the stream: its charts are drawn
        const { cssContentSize: all } = await call("Page.getLayoutMetrics");
        if (all.width > width) console.error(`${page} at ${width} pixels is ${all.width} wide`);
        // As high as the page, and then a moment: a picture beyond the window would be taken while the charts are drawn again.
        await resize(size, width, Math.min(all.height, 3_000));
        await new Promise((go) => setTimeout(go, 500));
        const { data } = await call("Page.captureScreenshot", { format: "png" });
        const file = join(out, `${page.split("/")[0]}-${size}-${theme}.png`);
        writeFileSync(file, Buffer.from(data, "base64"));
        console.log(file);
      }
    }
  }
} finally {
  if (browser.exitCode === null && browser.signalCode === null) {
    const ended = new Promise((go) => browser.once("exit", go));
    // A browser that is killed leaves children which write to the profile; one that is asked ends them first.
    if (socket) socket.call("Browser.close").catch(() => browser.kill());
    else browser.kill();
    const late = setTimeout(() => browser.kill("SIGKILL"), PATIENCE_MS);
    await ended;
    clearTimeout(late);
  }
  rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
}

/** Waits until a question is answered with true. */
async function until(question, what) {
  for (const end = Date.now() + PATIENCE_MS; !(await question());) {
    if (Date.now() > end) throw new Error(`${what} was not shown within ${PATIENCE_MS / 1000} s`);
    await new Promise((go) => setTimeout(go, 100));
  }
}

/** A connection to the browser, once it says where it listens. */
async function connect(process) {
  const address = await new Promise((go, fail) => {
    let said = "";
    process.stderr.on("data", (text) => {
      said += text;
      const found = said.match(/DevTools listening on (ws:\S+)/);
      if (found) go(found[1]);
    });
    process.once("error", fail);
    process.once("exit", () => fail(new Error(`the browser ended: ${said}`)));
  });
  const socket = new WebSocket(address);
  const waiting = new Map();
  let last = 0;
  socket.onmessage = ({ data }) => {
    const { id, result, error } = JSON.parse(data);
    const call = waiting.get(id);
    waiting.delete(id);
    if (error) call?.fail(new Error(error.message));
    else call?.go(result);
  };
  await new Promise((go, fail) => {
    socket.onopen = go;
    socket.onerror = () => fail(new Error("no connection to the browser"));
  });
  return {
    call: (method, params = {}, sessionId = undefined) => new Promise((go, fail) => {
      waiting.set(++last, { go, fail });
      socket.send(JSON.stringify({ id: last, method, params, sessionId }));
    }),
  };
}
