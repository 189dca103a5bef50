// Follows one page as the server streams it. fetch and not EventSource, since a token goes into a header.
// A hidden page does not: a browser opens only six connections to a host over HTTP/1.1, and each open tab would hold one.
const SILENT_MS = 25_000; // the server sends something every 10 s
const AGAIN = [404, 408, 429]; // a node may be there in a moment: the server has just started, or the agent registers

const BUSY = "urn:tierlog:problem:overloaded"; // the server reads the log for one page at a time
const AGAIN_MS = 1_000;
const MOST_TIMES = 30;

/** Calls on.page, on.gap, on.lost, on.refused and on.paused until the function that it returns is called. */
export function follow(query, token, on, silentMs = SILENT_MS) {
  const stop = new AbortController();
  let waitMs = 500;
  (async () => {
    while (!stop.signal.aborted) {
      if (document.hidden) {
        on.paused();
        await pause(stop.signal);
        continue;
      }
      const attempt = new AbortController();
      const end = () => attempt.abort();
      let timer = setTimeout(end, silentMs);
      stop.signal.addEventListener("abort", end);
      document.addEventListener("visibilitychange", end);
      try {
        const headers = token ? { Authorization: `Bearer ${token}` } : {};
        const answer = await fetch(`/api/live?${new URLSearchParams(query)}`, { headers, signal: attempt.signal });
        if (!answer.ok) {
          const problem = await answer.json().catch(() => ({}));
          if (stop.signal.aborted) return;
          on.refused(answer.status, [problem.detail, problem.action].filter(Boolean).join(": ") || `the server answered ${answer.status}`);
          if (answer.status < 500 && !AGAIN.includes(answer.status)) return;
        } else {
          await read(answer.body.getReader(), (name, data) => {
            waitMs = 500;
            if (name === "page") on.page(JSON.parse(data));
            if (name === "gap") on.gap(JSON.parse(data).missed);
          }, () => {
            clearTimeout(timer);
            timer = setTimeout(end, silentMs);
          });
          on.lost();
        }
      } catch (e) {
        if (stop.signal.aborted) return;
        if (!document.hidden) on.lost();
      } finally {
        clearTimeout(timer);
        stop.signal.removeEventListener("abort", end);
        document.removeEventListener("visibilitychange", end);
      }
      if (document.hidden) continue;
      await pause(stop.signal, waitMs);
      waitMs = Math.min(10_000, waitMs * 2);
    }
  })();
  return () => stop.abort();
}

/** Fetches one page, again while the log is read for another one; calls on.page or on.refused unless what it returns is called before. */
export function once(query, token, on) {
  const stop = new AbortController();
  const { page, ...rest } = query;
  (async () => {
    try {
      const headers = token ? { Authorization: `Bearer ${token}` } : {};
      const [answer, json] = await patiently(`/api/${page}?${new URLSearchParams(rest)}`, { headers, signal: stop.signal });
      if (stop.signal.aborted) return;
      if (answer.ok) on.page(json);
      else on.refused(answer.status, [json.detail, json.action].filter(Boolean).join(": "));
    } catch {
      if (!stop.signal.aborted) on.refused(0, "the server does not answer");
    }
  })();
  return () => stop.abort();
}

/** The answer of a call and its JSON; it is made again while the server reads the log for another page. */
export async function patiently(url, call) {
  for (let times = 1; ; times++) {
    const answer = await fetch(url, call);
    const json = await answer.json();
    if (json.type !== BUSY || times === MOST_TIMES || call.signal?.aborted) return [answer, json];
    await new Promise((go) => setTimeout(go, AGAIN_MS));
  }
}

/** Waits until the page is shown or hidden, the signal comes, or the time has passed; without a time for as long as it takes. */
function pause(signal, ms) {
  return new Promise((go) => {
    const timer = ms ? setTimeout(done, ms) : 0;
    function done() {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      document.removeEventListener("visibilitychange", done);
      go();
    }
    signal.addEventListener("abort", done);
    document.addEventListener("visibilitychange", done);
  });
}

async function read(reader, event, alive) {
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    alive();
    text += decoder.decode(value, { stream: true });
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const lines = text.slice(0, end).split("\n");
      text = text.slice(end + 2);
      const name = lines.find((line) => line.startsWith("event: "));
      const data = lines.find((line) => line.startsWith("data: "));
      if (name && data) event(name.slice(7), data.slice(6));
    }
  }
}
