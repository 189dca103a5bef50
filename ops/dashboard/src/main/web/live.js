// Follows one page as the server streams it. fetch and not EventSource, since a token goes into a header.
export function follow(query, token, on) {
  const stop = new AbortController();
  let waitMs = 500;
  (async () => {
    while (!stop.signal.aborted) {
      try {
        const headers = token ? { Authorization: `Bearer ${token}` } : {};
        const answer = await fetch(`/api/live?${new URLSearchParams(query)}`, { headers, signal: stop.signal });
        if (!answer.ok) {
          const problem = await answer.json().catch(() => ({}));
          on.refused(answer.status, [problem.detail, problem.action].filter(Boolean).join(": ") || `the server answered ${answer.status}`);
          if (answer.status < 500) return;
        } else {
          await read(answer.body.getReader(), (name, data) => {
            waitMs = 500;
            if (name === "page") on.page(JSON.parse(data));
            if (name === "gap") on.gap(JSON.parse(data).missed);
          });
          on.lost();
        }
      } catch (e) {
        if (stop.signal.aborted) return;
        on.lost();
      }
      await new Promise((go) => setTimeout(go, waitMs));
      waitMs = Math.min(10_000, waitMs * 2);
    }
  })();
  return () => stop.abort();
}

async function read(reader, event) {
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
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
