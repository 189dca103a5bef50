// What each page shows. All text of the log goes through Preact, which escapes it.
import { useEffect, useState } from "preact/hooks";
import { Chart, Flow, Parts, tierSeries } from "./charts.jsx";
import { age, bytes, clock, count, millis, percent, rate, sentence, span, stampOf, TIERS, words } from "./format.js";
import { once } from "./live.js";

export function Panel({ title, note, wide, children }) {
  return (
    <section class={wide ? "panel wide" : "panel"}>
      <header><h2>{title}</h2>{note && <p class="note">{note}</p>}</header>
      {children}
    </section>
  );
}

/** What the numbers are of: the stretch that was chosen, or all that the log has of it. */
const stretch = ({ window, minutes }) => (window.toMs - window.fromMs < minutes * 60_000 ? `since ${clock(window.fromMs)}` : `last ${span(minutes)}`);

function Figure({ name, value, note }) {
  return (
    <div class="figure"><dt>{name}</dt><dd>{value}</dd>{note && <dd class="note">{note}</dd>}</div>
  );
}

export function Overview({ page, theme, stamp }) {
  const { sum, series } = page;
  const note = `${stretch(page)}, ${stamp}`;
  const seconds = (page.window.toMs - page.window.fromMs) / 1000;
  const evicted = [...sum.evicted].sort((a, b) => b.blocks - a.blocks);
  const most = evicted.length ? evicted[0].blocks : 1;
  const parts = [...TIERS, "computed"].map((name) => ({ label: name, value: sum.blocks[name], colour: name }));
  return (
    <>
      <Alarms alarms={page.alarms} note={note} />
      <dl class="figures">
        <Figure name="Hit ratio" value={percent(sum.hitRatio)} note={`${page.atMs ? "all before" : "all of the log"} ${percent(page.total.hitRatio)}`} />
        <Figure name="Requests" value={`${rate(sum.submitted / seconds)}/s`} note={`${count(sum.submitted)}, ${count(sum.answeredAtOnce)} answered at once`} />
        <Figure name="Submit to ready, p50" value={sum.readyMs.count ? millis(sum.readyMs.p50) : "none"}
          note={sum.readyMs.count ? `p99 ${millis(sum.readyMs.p99)} of ${count(sum.readyMs.count)} that waited` : "no request waited"} />
        <Figure name="Waits expired" value={count(sum.waitsExpired)} note={sum.submitted ? `${percent(sum.waitsExpired / sum.submitted)} of requests` : "no requests"} />
        <Figure name="Nodes up" value={`${page.nodesUp} of ${page.nodes}`} note={`${count(page.inFlight)} operations in flight now`} />
      </dl>
      <p class="note stretch">Figures: {note}.</p>
      <div class="panels">
        <Panel title="Where the blocks of prompts were found" note={note} wide>
          <Chart label="Share of the blocks of prompts by the tier they were found on" data={series} series={tierSeries} stack max={1} format={(v) => `${Math.round(100 * v)} %`} theme={theme} height={200} empty="No prompt has been computed." />
          <Parts parts={parts} label="Blocks of prompts" />
          <p class="note">{count(parts.reduce((all, p) => all + p.value, 0))} blocks of {count(sum.prefilled)} prompts; {percent(1 - sum.hitRatio)} computed</p>
        </Panel>
        <Panel title="Requests" note={note}>
          <Chart label="Requests and expired waits a second" data={series} format={(v) => `${rate(v)}/s`} theme={theme}
            series={[{ key: "requests", label: "submitted", colour: "host" }, { key: "expired", label: "waits expired", colour: "bad" }]} />
        </Panel>
        <Panel title="Submit to ready" note={note}>
          <Chart label="Time from submit to ready of requests that waited" data={series} format={(v) => millis(v)} theme={theme} empty="No request waited."
            series={[{ key: "p50", label: "p50", colour: "host" }, { key: "p99", label: "p99", colour: "store", dash: [6, 4] }]} />
        </Panel>
        <Panel title="Bytes between tiers" note={note}>
          <Flow moved={sum.moved} />
        </Panel>
        <Panel title="What left the tiers, and why" note={note}>
          {evicted.length === 0 ? <p class="empty">Nothing left a tier.</p> : (
            <table class="bars">
              <thead><tr><th>Tier</th><th>Reason</th><th class="num">Blocks</th><th class="num">Last copies</th></tr></thead>
              <tbody>
                {evicted.slice(0, 12).map((row) => (
                  <tr key={row.tier + row.reason}>
                    <td><i class="swatch" style={{ background: `var(--${row.tier.toLowerCase()})` }} />{row.tier.toLowerCase()}</td>
                    <td>{words(row.reason)}<span class="bar" style={{ width: `${(100 * row.blocks) / most}%` }} aria-hidden="true" /></td>
                    <td class="num">{count(row.blocks)}</td>
                    <td class={row.lastCopies ? "num bad" : "num"}>{count(row.lastCopies)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </Panel>
      </div>
    </>
  );
}

function Alarms({ alarms, note }) {
  if (!alarms.length) return <p class="calm"><i class="dot ok" />No alarms. <span class="note">{note}</span></p>;
  return (
    <ul class="alarms" aria-label="Alarms">
      {alarms.slice(0, 8).map((alarm) => (
        <li key={alarm.what} class={alarm.level}>
          <a href={`#/${alarm.page}`}><b>{alarm.level === "error" ? "Error" : "Warning"}: {alarm.what}</b></a> <span>{sentence(alarm.means)}. {sentence(note)}.</span>
        </li>
      ))}
      {alarms.length > 8 && <li>{alarms.length - 8} more</li>}
    </ul>
  );
}

function Fill({ tier }) {
  const share = tier.capacity ? tier.used / tier.capacity : 0;
  const part = (n) => `${tier.capacity ? (100 * n) / tier.capacity : 0}%`;
  const name = tier.tier.toLowerCase();
  return (
    <div class="fill">
      <span class="fillname">{name}</span>
      <span class="track" role="img" aria-label={`${name}: ${percent(share)} of ${count(tier.capacity)} blocks in use`}>
        <span class="used" style={{ width: part(tier.used - tier.leaving), background: `var(--${name})` }} />
        <span class="leaving" style={{ width: part(tier.leaving) }} />
        {tier.highMark > 0 && <i class="mark" style={{ left: `${100 * tier.highMark}%` }} title={`high mark ${percent(tier.highMark, 0)}`} />}
        {tier.lowMark > 0 && <i class="mark low" style={{ left: `${100 * tier.lowMark}%` }} title={`low mark ${percent(tier.lowMark, 0)}`} />}
      </span>
      <b>{percent(share, 0)}</b>
    </div>
  );
}

const stateClass = (state) => (state === "UP" ? "ok" : state === "LOST" ? "error" : "off");

export function Nodes({ page, stamp }) {
  const nodes = page.nodes;
  if (!nodes.length) return <p class="empty">No agent has registered yet.</p>;
  const note = `now, ${stamp}`;
  if (nodes.length > 24) {
    const hottest = (node) => Math.max(0, ...node.tiers.filter((t) => t.capacity && t.tier !== "DEVICE").map((t) => t.used / t.capacity));
    return (
      <Panel title={`${nodes.length} nodes by the fill of their fullest tier`} note={note} wide>
        <ul class="heat">
          {nodes.map((node) => (
            <li key={node.node}>
              <a href={`#/node/${encodeURIComponent(node.node)}`} class={node.state === "UP" ? "" : "dead"} style={{ "--fill": `${Math.round(100 * hottest(node))}%` }}
                title={`${node.node}: ${words(node.state)}, ${percent(hottest(node), 0)}`} aria-label={`${node.node}, ${words(node.state)}, ${percent(hottest(node), 0)} full`}>
                {percent(hottest(node), 0)}
              </a>
            </li>
          ))}
        </ul>
      </Panel>
    );
  }
  return (
    <>
      <p class="note stretch">{nodes.length} nodes, {note}.</p>
      <ul class="cards">
        {nodes.map((node) => (
          <li key={node.node} class="card">
            <h2><a href={`#/node/${encodeURIComponent(node.node)}`}>{node.node}</a> <span class={`state ${stateClass(node.state)}`}>{words(node.state)}</span></h2>
            {node.foreign && <p class="note">an engine that a bridge listens to: no agent</p>}
            {node.tiers.filter((t) => t.capacity > 0).map((tier) => <Fill key={tier.tier} tier={tier} />)}
            <NodeFacts node={node} page={page} />
          </li>
        ))}
      </ul>
    </>
  );
}

function NodeFacts({ node, page }) {
  const pins = node.tiers.reduce((all, tier) => all + tier.pins, 0);
  return (
    <dl class="facts">
      {page.atMs === 0 && <div><dt>last report</dt><dd>{node.seenMs ? `${age(page.nowMs - node.seenMs)} ago` : "none"}</dd></div>}
      <div><dt>incarnation</dt><dd>{node.incarnation}</dd></div>
      <div><dt>in flight</dt><dd>{count(node.inFlight)}</dd></div>
      <div><dt>pins</dt><dd>{count(pins)}</dd></div>
      {page.atMs === 0 && <div><dt>waiting</dt><dd>{count(node.waiting)}</dd></div>}
      <div><dt>engines</dt><dd>{node.instances.join(", ") || "none"}</dd></div>
    </dl>
  );
}

export function Node({ page, theme, stamp, minutes }) {
  const series = [{ key: "device", label: "device", colour: "device" }, { key: "host", label: "host", colour: "host" }, { key: "disk", label: "disk", colour: "disk" }]
    .filter((one) => page.tiers.some((tier) => tier.tier.toLowerCase() === one.key && tier.capacity > 0));
  const note = `last ${span(minutes)}, ${stamp}`;
  return (
    <>
      <p><a href="#/nodes">All nodes</a></p>
      <div class="panels">
        <Panel title="Tiers" note={`now, ${stamp}`}>
          <p><span class={`state ${stateClass(page.state)}`}>{words(page.state)}</span></p>
          {page.tiers.filter((t) => t.capacity > 0).map((tier) => <Fill key={tier.tier} tier={tier} />)}
          <NodeFacts node={page} page={page} />
        </Panel>
        <Panel title="Blocks in use" note={note}>
          <Chart label="Blocks in use by tier" data={page.history} series={series} format={count} theme={theme} />
        </Panel>
        <Panel title="Operations" note={`in flight, and the last that ended, ${stamp}`} wide><Waterfall operations={page.operations} lastMs={page.lastMs} /></Panel>
        <Panel title="What left its tiers" note={`the last ${Math.min(15, page.removals.length)}, ${stamp}`} wide>
          <Table head={["Time", "Tier", "Namespace", "Reason", "Blocks", "Last copies"]} empty="Nothing has left."
            rows={page.removals.slice(0, 15).map((r) => [clock(r.atMs), r.tier.toLowerCase(), r.namespace, words(r.reason), count(r.blocks), count(r.lastCopies)])} />
        </Panel>
        {page.policy && (
          <Panel title={`Policy in force, version ${page.policy.version}`} note={page.policy.adoptedMs ? `since ${clock(page.policy.adoptedMs)}` : stamp} wide><pre class="code" tabindex="0" aria-label="Policy document">{page.policy.text}</pre></Panel>
        )}
      </div>
    </>
  );
}

function Waterfall({ operations, lastMs }) {
  const shown = operations.slice(0, 24);
  if (!shown.length) return <p class="empty">No operation yet.</p>;
  const from = Math.min(...shown.map((o) => o.issuedMs));
  const to = Math.max(lastMs, ...shown.map((o) => o.endedMs));
  const at = (ms) => (100 * (ms - from)) / Math.max(1, to - from);
  return (
    <ol class="waterfall">
      {shown.map((o) => {
        const end = o.endedMs || lastMs;
        const start = o.startedMs || end;
        return (
          <li key={o.id}>
            <span class="what" title={o.id}>{words(o.kind)} <span class="note">{count(o.blocks)} blocks{o.movedBytes ? `, ${bytes(o.movedBytes)}` : ""}</span></span>
            <span class="time" role="img" aria-label={`issued ${clock(o.issuedMs)}, ${o.endedMs ? `ended after ${millis(o.endedMs - o.issuedMs)}` : "in flight"}`}>
              <i class="queued" style={{ left: `${at(o.issuedMs)}%`, width: `${Math.max(0.3, at(start) - at(o.issuedMs))}%` }} />
              {(o.startedMs || o.endedMs) > 0 && <i class={o.endedMs ? "moving" : "moving open"} style={{ left: `${at(start)}%`, width: `${Math.max(0.6, at(end) - at(start))}%` }} />}
            </span>
            <span class="end">{o.endedMs ? `${words(o.end.split(" ")[0])}, ${millis(o.endedMs - o.issuedMs)}` : o.overdueMs ? "overdue" : o.startedMs ? "moving" : "queued"}</span>
          </li>
        );
      })}
    </ol>
  );
}

const NUMBER = /^[\d.,]+( (%|ms|s|s ago|min|h|B|[KMGTP]iB))?$/;

/** A table; columns of numbers, the first apart, are aligned by their last digit. */
export function Table({ head, rows, empty }) {
  if (!rows.length) return <p class="empty">{empty}</p>;
  const isNumber = (cell) => ["string", "number"].includes(typeof cell) && NUMBER.test(cell);
  const kind = head.map((_, j) => (j > 0 && rows.some((row) => isNumber(row[j])) && rows.every((row) => row[j] === "" || isNumber(row[j])) ? "num" : ""));
  return (
    <div class="scroll" tabindex="0" role="region" aria-label={head.join(", ")}>
      <table>
        <thead><tr>{head.map((name, j) => <th key={name} class={kind[j]}>{name}</th>)}</tr></thead>
        <tbody>{rows.map((row, i) => <tr key={i}>{row.map((cell, j) => <td key={j} class={kind[j]}>{cell}</td>)}</tr>)}</tbody>
      </table>
    </div>
  );
}

export function Requests({ page, stamp, filter, setFilter }) {
  const field = (name, label, props) => (
    <label>{label}<input value={filter[name] || ""} onInput={(e) => setFilter({ ...filter, [name]: e.currentTarget.value })} {...props} /></label>
  );
  const found = (f) => [...TIERS, "computed"].map((name) => ({ label: name, value: f[name], colour: name }));
  return (
    <>
      <form class="filters" onSubmit={(e) => e.preventDefault()} aria-label="Filters">
        {field("namespace", "Tenant or namespace", { placeholder: "all" })}
        {field("node", "Node", { placeholder: "all" })}
        {field("slow", "Waited at least, ms", { type: "number", min: 0, placeholder: "0" })}
        <label class="check"><input type="checkbox" checked={filter.computed === "1"} onChange={(e) => setFilter({ ...filter, computed: e.currentTarget.checked ? "1" : "" })} />computed blocks</label>
      </form>
      <Panel title={page.atMs ? "Active attempts" : "Last attempts"} note={`${count(page.requests.length)} that match, ${stamp}`} wide>
        <div class="lines">
          <Table head={["Submitted", "Request", "Namespace", "Node", "State", "Ready after", "Prefilled after", "Where its blocks were"]} empty="No request matches."
            rows={page.requests.map((r) => [
              clock(r.submittedMs), r.attempt > 1 ? `${r.request} (attempt ${r.attempt})` : r.request, r.namespace, r.node,
              <span title={words(r.reason)}>{words(r.state)}{r.expired ? ", wait expired" : ""}</span>,
              !r.waits ? "at once" : r.readyMs ? millis(r.readyMs - r.submittedMs) : "waits",
              r.prefilledMs ? millis(r.prefilledMs - r.submittedMs) : "",
              r.prefilledMs ? <Parts parts={found(r.found)} label="Blocks" /> : "",
            ])} />
        </div>
      </Panel>
    </>
  );
}

export function Log({ page, stamp, token }) {
  const note = `${stretch(page)}, ${stamp}`;
  const [contents, read] = useContents(page.atMs, token);
  return (
    <div class="panels">
      <Panel title="Records by partition" note={note} wide>
        <Table head={["Partition", "Events/s", "Decisions/s", "Commands/s", "Refused", "Skipped", "Unreadable", "Latest decision"]} empty="No partition is here yet."
          rows={page.partitionRates.map((p) => [p.partition, rate(p.events / p.seconds), rate(p.facts / p.seconds), rate(p.commands / p.seconds), count(p.refused),
            count(p.skipped), count(p.unreadable), p.lastMs ? `${age(page.nowMs - p.lastMs)} ago` : "none"])} />
      </Panel>
      {page.atMs === 0 && (
        <>
          <Panel title="Not read yet" note={`now, ${stamp}; Kafka Streams is ${words(page.reader)}`} wide>
            <Table head={["Topic and partition", "Records behind"]} empty="The consumer has not reported yet." rows={Object.entries(page.lag).map(([name, lag]) => [name, count(lag)])} />
          </Panel>
          <Panel title="Who wrote what" note={`all records that were read, the latest writers first, ${stamp}`} wide>
            <Table head={["Sender", "Events", "Decisions", "Commands", "Latest record", "When"]} empty="Nothing was read yet."
              rows={page.writers.map((w) => [w.sender, count(w.events), count(w.decisions), count(w.commands), w.type, stampOf(w.lastMs)])} />
          </Panel>
        </>
      )}
      <div class="contents" aria-live="polite">
        {/* Not disabled while it reads: the focus would leave it. */}
        <p class="note stretch"><button type="button" aria-disabled={contents.state === "reading"} onClick={contents.state === "reading" ? undefined : read}>
          {contents.state === "reading" ? "Reading dead letters and snapshots" : "Read dead letters and snapshots again"}</button></p>
        {contents.state === "refused" && <p class="notice error inner">{contents.why}</p>}
      </div>
      {contents.json && <Contents json={contents.json} />}
    </div>
  );
}

/** Dead letters, snapshots and offsets, read when the page opens and when a person asks: each reading opens the log. */
function useContents(atMs, token) {
  const [contents, setContents] = useState({ state: "reading" });
  const [times, setTimes] = useState(0);
  useEffect(() => {
    setContents((was) => ({ ...was, state: "reading" }));
    return once({ page: "contents", ...(atMs ? { at: atMs } : {}) }, token, {
      page: (json) => setContents({ state: "read", json }),
      refused: (status, why) => setContents({ state: "refused", why }),
    });
  }, [atMs, token, times]);
  return [contents, () => setTimes(times + 1)];
}

function Contents({ json }) {
  return (
    <>
      {json.problems?.map((why) => <p key={why} class="notice error inner">{why}</p>)}
      {json.letters && <Panel title="Dead letters" note={`the last ${count(json.letters.length)} that are kept`} wide>
        <Table head={["Time", "Record", "Why", "Detail", "Key", "Size", "Begins with"]} empty="None are kept."
          rows={json.letters.map((l) => [stampOf(l.timeMs), l.from, words(l.reason), l.detail, l.key, bytes(l.bytes), l.hidden ? "an engine's payload, not shown" : l.begins])} />
      </Panel>}
      <Panel title="Snapshots" note={json.snapshotDirectory ?? "of no directory"} wide>
        {json.snapshots
          ? <Table head={["Name", "Made", "Verified", "Placements", "Size", "Went on from", "Next event of each partition"]} empty="There is none yet: make one with snapshot create."
              rows={json.snapshots.map((s) => [s.name, stampOf(s.createdMs), s.verified ? "yes" : <b class="bad">no</b>, count(s.placements), bytes(s.bytes), s.previous || "the beginning", s.places.map((p) => count(p.nextEvent)).join(", ")])} />
          : <p class="empty">{json.snapshotDirectory ? "They cannot be read, or this is no directory: look at --snapshots." : "The page was started without a directory of snapshots."}</p>}
      </Panel>
      {json.kept && <Panel title="Kept records" note="now, offsets that the brokers still have" wide>
        <Table head={["Topic and partition", "First", "End", "Records and markers"]} empty="None."
          rows={json.kept.map((k) => [`${k.topic}-${k.partition}`, count(k.begin), count(k.end), count(k.end - k.begin)])} />
      </Panel>}
    </>
  );
}
