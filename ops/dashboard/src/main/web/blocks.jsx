// One block, one request, and the prefixes that saved the most.
import { useEffect, useState } from "preact/hooks";
import { useWidth } from "./charts.jsx";
import { bytes, clock, count, millis, percent } from "./format.js";
import { patiently } from "./live.js";
import { refusal } from "./operate.jsx";
import { Panel, Table } from "./pages.jsx";

const short = (key) => (key.length > 16 ? `${key.slice(0, 16)}…` : key);

/** What was searched for, {text, space}, is kept by the caller: the same is asked of each moment that is shown. */
export function Blocks({ page, stamp, token, searched, setSearched }) {
  const [what, setWhat] = useState(searched?.text ?? "");
  const [namespace, setNamespace] = useState(searched?.space ?? "");
  const [answer, setAnswer] = useState({ state: "none" });
  const search = async (text, space) => {
    setWhat(text);
    setNamespace(space);
    setSearched({ text, space });
    setAnswer({ state: "searching" });
    try {
      const headers = { "Content-Type": "application/json", ...(token ? { Authorization: `Bearer ${token}` } : {}) };
      const body = JSON.stringify({ what: text, namespace: space, atMs: page.atMs });
      const [got, json] = await patiently("/api/explore", { method: "POST", headers, body });
      setAnswer(got.ok ? { state: "found", json } : { state: "refused", why: refusal(json) });
    } catch {
      setAnswer({ state: "refused", why: "the server does not answer" });
    }
  };
  useEffect(() => {
    if (searched) search(searched.text, searched.space);
  }, [page.atMs]);
  const space = namespace || (page.namespaces.length === 1 ? page.namespaces[0] : "");
  return (
    <>
      <form class="filters search" aria-label="Find" onSubmit={(e) => { e.preventDefault(); search(what.trim(), space); }}>
        <label class="wide">Key of a block, keys of a prompt, or a request id
          <input name="what" value={what} onInput={(e) => setWhat(e.currentTarget.value)} required autocomplete="off" spellcheck={false} /></label>
        <label>Namespace, for keys
          <input name="namespace" list="namespaces" value={space} onInput={(e) => setNamespace(e.currentTarget.value)} autocomplete="off" /></label>
        <datalist id="namespaces">{page.namespaces.map((name) => <option key={name} value={name} />)}</datalist>
        <button disabled={answer.state === "searching"}>Find</button>
      </form>
      <div aria-live="polite">
        {answer.state === "searching" && <p class="note stretch">Reading the log.</p>}
        {answer.state === "refused" && <p class="notice error inner">{answer.why}</p>}
        {answer.state === "found" && <Found json={answer.json} search={search} atMs={page.atMs} />}
      </div>
      {page.atMs === 0 && <Panel title="Prefixes that saved the most" note={`by first block; the area is what was saved, the colour how many blocks were found; ${stamp}`} wide>
        <Treemap prefixes={page.prefixes} find={search} />
      </Panel>}
    </>
  );
}

function Found({ json, search, atMs }) {
  const at = atMs ? "at that moment" : "now";
  const name = json.kind === "block" ? `Block ${short(json.what)} of ${json.namespace}` : `Request ${json.what}`;
  const read = `${count(json.searched)} records read`;
  if (!json.records.length) {
    return (
      <Panel title={`The log has no record of ${name.toLowerCase()}`} note={read} wide>
        {json.cut && <p class="note">Only the end of a long log was read: audit {json.kind} reads all of it.</p>}
        {json.similar.length > 0 && <p>The log has {json.similar.map((id) => <button type="button" key={id} onClick={() => search(id, "")}>{id}</button>)}</p>}
      </Panel>
    );
  }
  return (
    <div class="panels found">
      {json.cut && <p class="notice warning inner">Only the end of a long log was read: what happened before it is missing here. audit {json.kind} reads all of it.</p>}
      {json.kind === "block" && (
        <Panel title={name} note={read} wide>
          <p>{(json.placements || []).length === 0 ? `It serves nowhere ${at}.` : `Serving ${at}: `}
            {(json.placements || []).map((p) => `${p.tier.toLowerCase()} of ${p.at}, page ${p.page}${p.sinceMs ? `, since ${clock(p.sinceMs)}` : ""}`).join("; ")}</p>
        </Panel>
      )}
      {(json.attempts || []).map((a) => (
        <Panel key={a.attempt} title={`${name}, attempt ${a.attempt}`} note={`${a.node}, namespace ${a.namespace}${a.trace ? `, trace ${a.trace}` : ""}`} wide>
          <Table head={["Time", "Step", "After", "Spent on", "Detail"]} empty="No step." rows={a.steps.map((s) => [clock(s.timeMs), s.step, millis(s.afterMs), s.waitedFor, s.detail])} />
          <Table head={["Index", "Block", "Found", "Became", "Why computed", "Brought by"]} empty="No whole block."
            rows={a.blocks.map((b) => [b.index, <Key name={b.key} find={() => search(b.key, a.namespace)} />, b.found, b.became, b.why, b.broughtBy])} />
        </Panel>
      ))}
      {json.prefix && (
        <Panel title="Prompts that contain it" note={json.prefixLeft ? `the first ${count(json.prefix.length)} blocks, ${count(json.prefixLeft)} more` : `${count(json.prefix.length)} blocks`} wide>
          <Table head={["Index", "Block", "Requests", "Last", `Serving ${at}`]} empty="None."
            rows={json.prefix.map((b) => [b.index, <span class="fork" style={{ "--forks": Math.min(b.forks, 12) }}>{b.wanted ? <b class="code">{short(b.key)} (this block)</b> : <Key name={b.key} find={() => search(b.key, json.namespace)} />}</span>,
              count(b.requests), clock(b.lastMs), b.at.join(", ") || "nowhere"])} />
        </Panel>
      )}
      <Panel title="Records" note={json.left ? `the last ${count(json.records.length)}, ${count(json.left)} before them` : `${count(json.records.length)}`} wide>
        <Table head={["Time", "Record", "About", "What", "Because of", "Fields"]} empty="None."
          rows={json.records.map((r) => [clock(r.timeMs), r.record, r.about, r.departure ? <b class="bad">{r.type}</b> : r.type, r.cause, [...r.fields, r.level].filter(Boolean).join(" ")])} />
      </Panel>
    </div>
  );
}

const Key = ({ name, find }) => <button type="button" class="key" title={name} onClick={find}>{short(name)}</button>;

/** Rectangles whose areas are the bytes: the larger half on one side, the rest on the other, until each stands alone. */
function cut(items, x, y, w, h, out) {
  if (items.length === 0) return out;
  if (items.length === 1) {
    out.push({ ...items[0], x, y, w, h });
    return out;
  }
  const all = items.reduce((sum, item) => sum + item.savedBytes, 0);
  let first = 0;
  let at = 0;
  while (at < items.length - 1 && (at === 0 || first + items[at].savedBytes / 2 < all / 2)) first += items[at++].savedBytes;
  const share = first / all;
  if (w >= h) {
    cut(items.slice(0, at), x, y, w * share, h, out);
    return cut(items.slice(at), x + w * share, y, w * (1 - share), h, out);
  }
  cut(items.slice(0, at), x, y, w, h * share, out);
  return cut(items.slice(at), x, y + h * share, w, h * (1 - share), out);
}

function Treemap({ prefixes, find }) {
  const [ref, width] = useWidth();
  const height = 280;
  const shown = prefixes.filter((p) => p.savedBytes > 0);
  return (
    <div ref={ref} class="treemap" style={{ height: shown.length ? `${height}px` : "auto" }}>
      {shown.length === 0 && <p class="empty">No prompt found a block yet.</p>}
      {width > 0 && cut(shown, 0, 0, width, height, []).map((p) => {
        const share = p.hits / Math.max(1, p.hits + p.computed);
        const rest = `${short(p.root)}: saved by ${count(p.prompts)} prompts, ${percent(share, 0)} of their blocks found, last at ${clock(p.lastMs)}`;
        return (
          <button type="button" key={p.namespace + p.root} class="tile" title={`${bytes(p.savedBytes)}, ${p.namespace}, ${rest}`} onClick={() => find(p.root, p.namespace)}
            style={{ left: `${p.x}px`, top: `${p.y}px`, width: `${Math.max(1, p.w - 2)}px`, height: `${Math.max(1, p.h - 2)}px`, "--share": `${Math.round(100 * share)}%` }}>
            <b class={p.w > 70 && p.h > 26 ? "" : "hidden"}>{bytes(p.savedBytes)}</b>
            <span class={p.w > 70 && p.h > 44 ? "" : "hidden"}>{p.namespace.split("/").at(-1) || p.namespace}</span> <span class="hidden">{rest}</span>
          </button>
        );
      })}
    </div>
  );
}
