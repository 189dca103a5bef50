// Migrations, drains and the policy: what the log says of them, and what an operator does about them.
import { useState } from "preact/hooks";
import { bytes, clock, count, words } from "./format.js";
import { Panel, Table } from "./pages.jsx";

/** Why a call was refused, in one text. */
export const refusal = (json) => [json.detail, ...(json.errors || []).map((e) => [e.field, e.detail].filter(Boolean).join(" ")), json.action].filter(Boolean).join(": ");

async function send(method, path, token, body) {
  try {
    const headers = { "Content-Type": "application/json", Authorization: `Bearer ${token}` };
    const got = await fetch(`/api/operator${path}`, { method, headers, body: JSON.stringify(body) });
    const json = await got.json();
    return got.ok ? { ok: true, json } : { ok: false, why: `${json.title}: ${refusal(json)}` };
  } catch {
    return { ok: false, why: "The server does not answer. Look at the page before you repeat it." };
  }
}

export function Operate({ page, stamp, token, setToken }) {
  const [answer, setAnswer] = useState(null);
  const [busy, setBusy] = useState(false);
  const call = async (what, method, path, body) => {
    setBusy(true);
    setAnswer(null);
    const got = await send(method, path, token, body);
    setBusy(false);
    setAnswer({ ...got, what });
    return got;
  };
  const acts = { may: page.canCall && token !== "", busy, call };
  return (
    <>
      {page.atMs === 0 && <Token page={page} token={token} setToken={(value) => { setAnswer(null); setToken(value); }} />}
      <div aria-live="polite" class="answer">
        {busy && <p class="note">Waiting for the decision.</p>}
        {answer && (answer.ok ? <p class="notice ok inner">{answer.what}: done.</p> : <p class="notice error inner">{answer.what} was refused. {answer.why}</p>)}
      </div>
      <div class="panels">
        <Policy page={page} stamp={stamp} acts={acts} />
        <Migrations page={page} stamp={stamp} acts={acts} />
        <Drains page={page} stamp={stamp} acts={acts} />
      </div>
    </>
  );
}

function Token({ page, token, setToken }) {
  if (!page.canCall) return <p class="note stretch">This page only reads. Start it with --operator-api URL to act from here.</p>;
  if (token) {
    return (
      <p class="note stretch">You act with an operator's token. It is forgotten when this page is closed or loaded again. <button type="button" onClick={() => setToken("")}>Forget it now</button></p>
    );
  }
  return (
    <form class="filters search" aria-label="Operator" onSubmit={(e) => { e.preventDefault(); setToken(new FormData(e.currentTarget).get("operator").trim()); }}>
      <label>Operator's token <input name="operator" type="password" autocomplete="off" required /></label>
      <button>Use it</button>
      <span class="note">Without a token this page only reads.</span>
    </form>
  );
}

function Policy({ page, stamp, acts }) {
  const [draft, setDraft] = useState(null);
  const [diff, setDiff] = useState(null);
  const { policy } = page;
  const text = draft === null ? policy.document : draft.text;
  const basedOn = draft === null ? policy.version : draft.basedOn;
  const edit = (value) => {
    setDraft({ text: value, basedOn });
    setDiff(null);
  };
  const compare = async () => {
    const got = await acts.call("Compare the policy", "POST", "/policy", { document: text, based_on: basedOn, dry_run: true });
    setDiff(got.ok ? got.json : null);
  };
  const apply = async () => {
    const got = await acts.call("Apply the policy", "POST", "/policy", { document: text, based_on: basedOn });
    if (got.ok) {
      setDraft(null);
      setDiff(null);
    }
  };
  return (
    <Panel title={policy.version ? `Policy in force, version ${policy.version}` : "Policy in force: the default"} note={policy.adoptedMs ? `since ${clock(policy.adoptedMs)}, ${stamp}` : stamp} wide>
      <div class="policy">
        <div>
          {acts.may ? (
            <>
              <label class="field">Document<textarea name="document" rows={16} spellcheck={false} value={text} onInput={(e) => edit(e.currentTarget.value)} /></label>
              <p class="buttons">
                <button type="button" disabled={acts.busy || draft === null} onClick={compare}>Show the difference</button>
                <button type="button" class="main" disabled={acts.busy || !diff || diff.changes.length === 0} onClick={apply}>Apply it</button>
                <button type="button" disabled={acts.busy || draft === null} onClick={() => { setDraft(null); setDiff(null); }}>Start over</button>
              </p>
              {draft !== null && basedOn !== policy.version && <p class="note">Version {policy.version} came meanwhile: start over.</p>}
            </>
          ) : <pre class="code" tabindex="0" aria-label="Policy document">{policy.document}</pre>}
        </div>
        <div>
          {diff && (
            <div class="diff">
              <h3>{diff.changes.length === 1 ? "1 change" : `${count(diff.changes.length)} changes`} to version {diff.based_on}</h3>
              <Table head={["Field", "Before", "After"]} empty="Nothing would change." rows={diff.changes.map((c) => [c.path, c.before ?? "not set", c.after ?? "not set"])} />
              {diff.warnings.map((w) => <p class="notice warning inner" key={w.kind + w.group}>{words(w.kind)}: {w.detail}</p>)}
            </div>
          )}
          <h3>Answers of the controller</h3>
          <Table head={["Time", "Answer", "Version", "Detail"]} empty="No policy was applied yet."
            rows={page.answers.map((a) => [clock(a.atMs), a.what === "REFUSED" ? <b class="bad">refused</b> : a.what === "APPLIED" ? "applied" : `warning: ${words(a.what)}`, a.version || "", a.detail])} />
        </div>
      </div>
    </Panel>
  );
}

const reasons = (map) => Object.entries(map).map(([reason, blocks]) => `${count(blocks)} ${words(reason)}`).join(", ");

function Migrations({ page, stamp, acts }) {
  const going = (m) => m.state === "SUBMITTED" || m.state === "RUNNING";
  return (
    <>
      <Panel title="Migrations" note={page.migrations.length ? `the last ${page.migrations.length}, ${stamp}` : stamp} wide>
        <Table head={["Requested", "Migration", "State", "What", "Nodes", "Accepted", "Rejected, and why", "Arrived", ...(acts.may ? [""] : [])]} empty="No operator has requested a migration."
          rows={page.migrations.map((m) => [
            clock(m.submittedMs), m.id, m.state === "REJECTED" ? <b class="bad">rejected</b> : words(m.state) + (m.dryRun ? ", dry run" : ""),
            m.method ? `${words(m.method)} ${count(m.wanted)} blocks, ${words(m.source)} to ${words(m.target)}${m.retention === "DELETE_SOURCE" ? ", source deleted" : ""}` : "",
            `${m.answered} of ${m.nodes}`, count(m.accepted), m.why || reasons(m.refused) || "none",
            `${count(m.done)} blocks, ${bytes(m.movedBytes)}${m.failed ? `, ${count(m.failed)} failed` : ""}`,
            ...(acts.may ? [going(m) && <button type="button" disabled={acts.busy} onClick={() => acts.call(`Cancel migration ${m.id}`, "DELETE", `/migrations/${encodeURIComponent(m.id)}`, {})}>Cancel</button>] : []),
          ])} />
        {acts.may && <Start page={page} acts={acts} />}
      </Panel>
      <Panel title="Blocks that were not moved, and why" note={`of routes, drains and operators; ${stamp}`} wide>
        <Table head={["Led to by", "From", "To", "Reason", "Blocks"]} empty="None in this stretch of time."
          rows={[...page.rejected].sort((a, b) => b.blocks - a.blocks).slice(0, 20).map((r) => [words(r.trigger), words(r.from), words(r.to), words(r.reason), count(r.blocks)])} />
      </Panel>
    </>
  );
}

function Start({ page, acts }) {
  const [form, setForm] = useState({ method: "COPY", source: "HOST", target: "DISK", retention: "KEEP_BOTH", nodes: "", count: "100", age: "0", group: "" });
  const set = (name) => (e) => setForm({ ...form, [name]: e.currentTarget.value });
  const choice = (name, label, values) => (
    <label>{label}<select value={form[name]} onChange={set(name)}>{values.map((v) => <option key={v} value={v}>{words(v)}</option>)}</select></label>
  );
  const start = (dryRun) => {
    const nodes = form.nodes.split(/[\s,]+/).filter(Boolean);
    const body = { method: form.method, source: form.source, target: form.target, dry_run: dryRun, ...(form.method === "MARK" ? {} : { retention: form.retention }),
      sample: { count: Number(form.count), min_age_ms: 1000 * Number(form.age), ...(form.group ? { group: form.group } : {}) }, ...(nodes.length ? { nodes } : {}) };
    return acts.call(dryRun ? "The dry run" : "The migration", "POST", "/migrations", body);
  };
  return (
    <form class="filters start-migration" aria-label="New migration" onSubmit={(e) => { e.preventDefault(); start(false); }}>
      {choice("method", "Method", ["COPY", "MARK", "BOTH"])}
      {choice("source", "From", ["HOST", "DISK"])}
      {choice("target", "To", ["DISK", "STORE"])}
      {form.method !== "MARK" && choice("retention", "Source", ["KEEP_BOTH", "DELETE_SOURCE"])}
      <label>Coldest blocks of a node<input type="number" min="1" max="4096" required value={form.count} onInput={set("count")} /></label>
      <label>Unused for, s<input type="number" min="0" value={form.age} onInput={set("age")} /></label>
      <label>Group<input value={form.group} onInput={set("group")} placeholder="all" autocomplete="off" /></label>
      <label>Nodes<input value={form.nodes} onInput={set("nodes")} placeholder={page.nodes.length ? "all" : "none yet"} autocomplete="off" /></label>
      <button type="button" disabled={acts.busy} onClick={() => start(true)}>Dry run</button>
      <button class="main" disabled={acts.busy}>Migrate</button>
    </form>
  );
}

function Drains({ page, stamp, acts }) {
  const state = (n) => (!n.draining ? (n.instances.length ? `drains ${n.instances.join(", ")}` : "serves")
    : !n.sinceMs ? (n.doneMs ? "drained" : `drains, pass ${count(n.pass + 1)}`) : n.doneMs ? `drained at ${clock(n.doneMs)}` : `drains since ${clock(n.sinceMs)}, pass ${count(n.pass + 1)}`);
  const path = (n) => `/nodes/${encodeURIComponent(n.node)}/drain`;
  return (
    <Panel title="Drains" note={`now, ${stamp}`} wide>
      <Table head={["Node", "Node is", "Drain", "Being saved", "Cannot be saved", ...(acts.may ? [""] : [])]} empty="No agent has registered yet."
        rows={page.nodes.slice(0, 200).map((n) => [
          <a href={`#/node/${encodeURIComponent(n.node)}`}>{n.node}</a>, words(n.state), state(n), n.draining ? count(n.saving) : "", n.draining && n.left ? <b class="bad">{count(n.left)}</b> : "",
          ...(acts.may ? [n.draining
            ? <button type="button" disabled={acts.busy} onClick={() => acts.call(`End the drain of ${n.node}`, "DELETE", path(n), {})}>End drain</button>
            : <button type="button" disabled={acts.busy} onClick={() => acts.call(`Drain ${n.node}`, "POST", path(n), {})}>Drain</button>] : []),
        ])} />
    </Panel>
  );
}
