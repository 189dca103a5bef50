// The page around the pages: which one is shown, its connection, theme and token.
import { render } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { age, span, stampOf } from "./format.js";
import { follow, once } from "./live.js";
import { Blocks } from "./blocks.jsx";
import { Operate } from "./operate.jsx";
import { Log, Node, Nodes, Overview, Requests } from "./pages.jsx";
import { LINKS, route, TITLES } from "./route.js";
import { TimeTravel } from "./past.jsx";

const STRETCHES = [5, 15, 60, 360, 1440];

function stored(key, otherwise) {
  try {
    return sessionStorage.getItem(key) ?? otherwise;
  } catch {
    return otherwise;
  }
}

function store(key, value) {
  try {
    sessionStorage.setItem(key, value);
  } catch {
    // A browser that keeps nothing: the choice holds until the page is left.
  }
}

function useTheme() {
  const [chosen, choose] = useState(stored("theme", ""));
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const [system, setSystem] = useState(dark.matches);
  useEffect(() => {
    const changed = (e) => setSystem(e.matches);
    dark.addEventListener("change", changed);
    return () => dark.removeEventListener("change", changed);
  }, []);
  const theme = chosen || (system ? "dark" : "light");
  document.documentElement.dataset.theme = theme;
  return [theme, () => {
    const next = theme === "dark" ? "light" : "dark";
    store("theme", next);
    choose(next);
  }];
}

function App() {
  const [theme, switchTheme] = useTheme();
  const [at, setAt] = useState(route(location.hash));
  const [minutes, setMinutes] = useState(15);
  const [filter, setFilter] = useState({});
  const [searched, setSearched] = useState(null);
  const [token, setToken] = useState(stored("token", ""));
  const [operator, setOperator] = useState(""); // in memory alone: a token that can change things is stored nowhere
  const [page, setPage] = useState(null);
  const [link, setLink] = useState({ state: "connecting" });
  const [past, setPast] = useState(0); // the moment that is shown, milliseconds since 1970; 0 for now
  const [travel, setTravel] = useState(false);
  const [range, setRange] = useState({ firstMs: 0, lastMs: 0 });
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const moved = () => setAt(route(location.hash));
    addEventListener("hashchange", moved);
    const tick = setInterval(() => setNow(Date.now()), 1000);
    return () => {
      removeEventListener("hashchange", moved);
      clearInterval(tick);
    };
  }, []);
  const query = useMemo(() => {
    const all = { page: at.page, minutes, ...(at.page === "node" ? { node: at.name } : {}), ...(at.page === "requests" ? filter : {}) };
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ""));
  }, [at, minutes, filter]);
  useEffect(() => {
    document.title = `${at.name || TITLES[at.page]} · Tierlog`;
    setLink((was) => ({ ...was, state: past ? "reading" : "connecting" }));
    const begin = setTimeout(() => {
      if (past) {
        stop = once({ ...query, at: past }, token, {
          page: (json) => {
            setPage({ ...json, receivedMs: Date.now() });
            setLink({ state: "past" });
          },
          refused: (status, why) => setLink({ state: "refused", status, why }),
        });
        return;
      }
      stop = follow(query, token, {
        page: (json) => {
          setRange({ firstMs: json.firstMs, lastMs: json.lastMs });
          setPage({ ...json, receivedMs: Date.now() });
          setLink((was) => ({ state: "live", missed: was.missed }));
        },
        gap: (missed) => setLink({ state: "live", missed: { count: missed, atMs: Date.now() } }),
        lost: () => setLink({ state: "lost" }),
        paused: () => setLink({ state: "connecting" }),
        refused: (status, why) => setLink({ state: "refused", status, why }),
      });
    }, page && page.page === at.page ? 250 : 0); // not for each step of a slider or letter of a filter
    let stop = () => {};
    return () => {
      clearTimeout(begin);
      stop();
    };
  }, [query, token, past]);
  const here = page && page.page === at.page && page.atMs === past && (at.page !== "node" || page.node === at.name);
  const shown = here && (past || page.partitions > 0) ? page : null; // without a partition every number would be 0
  const old = page ? page.nowMs - page.lastMs + Math.max(0, now - page.receivedMs) : 0;
  const stamp = past ? `at ${stampOf(past)}` : page?.lastMs ? `${age(old)} old` : "nothing decided yet";
  return (
    <>
      <a class="skip" href="#main">Skip to the page</a>
      <header class="top">
        <a class="name" href="#/overview">Tierlog</a>
        <nav aria-label="Pages">
          {LINKS.map(([name, title]) => (
            <a key={name} href={`#/${name}`} aria-current={at.page === name || (name === "nodes" && at.page === "node") ? "page" : undefined}>{title}</a>
          ))}
        </nav>
        <div class="tools">
          {!["nodes", "requests", "blocks"].includes(at.page) && (
            <label><span class="hidden">Stretch of time</span>
              <select value={minutes} onChange={(e) => setMinutes(Number(e.currentTarget.value))}>
                {STRETCHES.map((m) => <option key={m} value={m}>last {span(m)}</option>)}
              </select>
            </label>
          )}
          {!travel && !past && (
            <button type="button" disabled={!range.lastMs} onClick={() => setTravel(true)}>Go back in time</button>
          )}
          <button type="button" class="theme" onClick={switchTheme} aria-label={`Switch to ${theme === "dark" ? "light" : "dark"} colours`}>{theme === "dark" ? "Light" : "Dark"}</button>
        </div>
        <Connection link={link} />
      </header>
      <Notice link={link} page={page} now={now} setToken={(value) => { store("token", value); setToken(value); }} />
      {(travel || past > 0) && (
        <TimeTravel past={past} range={range} setPast={setPast} close={() => setTravel(false)} reading={link.state === "reading"} />
      )}
      <main id="main" tabindex="-1">
        <h1>{at.page === "node" ? `Node ${at.name}` : TITLES[at.page]}</h1>
        {!shown ? <p class="empty">{link.state === "refused" ? "Nothing to show." : link.state === "reading" ? "Reading the log up to that moment." : "Waiting for the log."}</p>
          : at.page === "overview" ? <Overview page={shown} theme={theme} stamp={stamp} />
          : at.page === "nodes" ? <Nodes page={shown} stamp={stamp} />
          : at.page === "node" ? <Node page={shown} theme={theme} stamp={stamp} minutes={minutes} />
          : at.page === "requests" ? <Requests page={shown} stamp={stamp} filter={filter} setFilter={setFilter} />
          : at.page === "blocks" ? <Blocks page={shown} stamp={stamp} token={token} searched={searched} setSearched={setSearched} />
          : at.page === "operate" ? <Operate page={shown} stamp={stamp} token={operator} setToken={setOperator} />
          : <Log page={shown} stamp={stamp} token={token} />}
      </main>
    </>
  );
}

function Connection({ link }) {
  const text = { live: "live", connecting: "connecting", lost: "connection lost", refused: "refused", reading: "reading", past: "past" }[link.state];
  return <span class="link" role="status"><i class={`dot ${link.state === "live" ? "ok" : ["connecting", "reading", "past"].includes(link.state) ? "wait" : "error"}`} />{text}</span>;
}

function Notice({ link, page, now, setToken }) {
  if (link.state === "refused") {
    return (
      <div class="notice error" role="alert">
        <p>{link.why}</p>
        {link.status === 401 && (
          <form onSubmit={(e) => { e.preventDefault(); setToken(new FormData(e.currentTarget).get("token")); }}>
            <label>Token <input name="token" type="password" autocomplete="off" /></label> <button>Use it</button>
          </form>
        )}
      </div>
    );
  }
  if (link.state === "lost") return <p class="notice warning" role="status">The server does not answer. The page tries again by itself; what it shows is old.</p>;
  if (link.missed && now - link.missed.atMs < 10_000) return <p class="notice warning" role="status">This browser was too slow and missed {link.missed.count} pages; it is up to date again.</p>;
  if (page?.notice) return <p class={`notice ${page.notice.level}`} role="status">{page.notice.text}</p>;
  return null;
}

const root = document.getElementById("app");
root.textContent = "";
render(<App />, root);
