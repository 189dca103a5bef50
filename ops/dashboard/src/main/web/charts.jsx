// Charts: lines and stacked areas by uPlot, the flow between tiers as SVG.
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { bytes, TIERS } from "./format.js";

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

export function useWidth() {
  const ref = useRef(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const watch = new ResizeObserver((entries) => setWidth(Math.floor(entries[0].contentRect.width)));
    watch.observe(ref.current);
    return () => watch.disconnect();
  }, []);
  return [ref, width];
}

/** Areas on top of each other: each series is drawn from 0 to the sum of itself and those before it, the largest first. */
function stacked(data, series) {
  const sums = [];
  series.forEach((one, i) => {
    sums.push(data[one.key].map((value, at) => (value === null ? null : value + (i ? sums[i - 1][at] : 0))));
  });
  return sums.reverse();
}

/** `empty` is shown where there is no value at all. */
export function Chart({ label, data, series, stack, format, max, theme, height = 170, empty = "Nothing yet." }) {
  const [ref, width] = useWidth();
  const plot = useRef(null);
  const none = series.every((one) => data[one.key].every((value) => value === null));
  const tick = (value) => (none ? "" : format(value).replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "")); // 20.0/s is 20/s on an axis
  const shown = stack ? [...series].reverse() : series;
  const values = [data.at, ...(stack ? stacked(data, series) : series.map((one) => data[one.key]))];
  useEffect(() => {
    if (!width) return undefined;
    const axis = { stroke: colour("muted"), grid: { stroke: colour("line"), width: 1 }, ticks: { stroke: colour("line"), width: 1 }, font: "12px system-ui" };
    const made = new uPlot(
      {
        width,
        height,
        cursor: { y: false, points: { show: !stack } },
        legend: { show: false },
        padding: [null, 28, null, null], // the last time stands below the end of the line
        scales: { x: { time: true }, y: { range: (u, low, high) => [0, max ?? Math.max(high * 1.1, 1e-3)] } },
        axes: [
          { ...axis, size: 28, space: (u, _, from, to) => (u.width < 400 && to - from > 120 ? 42 : 70), // whole minutes are short
            values: (u, ticks) => ticks.map((t) => new Date(t * 1000).toTimeString().slice(0, ticks.some((each) => each % 60) ? 8 : 5)) },
          { ...axis, size: 58, space: 34, values: (u, ticks) => ticks.map(tick) },
        ],
        series: [
          {},
          ...shown.map((one) => ({
            label: one.label,
            stroke: colour(one.colour),
            width: stack ? 1 : 2,
            fill: stack ? colour(one.colour) : undefined,
            dash: one.dash,
            points: { show: false },
            spanGaps: true,
          })),
        ],
      },
      values,
      ref.current,
    );
    plot.current = made;
    return () => made.destroy();
  }, [width, theme, none]);
  useEffect(() => {
    if (plot.current) plot.current.setData(values);
  }, [data]);
  const last = (key) => {
    const known = data[key].filter((value) => value !== null);
    return known.length ? known[known.length - 1] : null;
  };
  return (
    <figure class="chart">
      <div ref={ref} class="plot" style={{ minHeight: `${height}px` }} aria-hidden="true" />
      {none && <p class="nothing">{empty}</p>}
      <figcaption>
        <span class="hidden">{label}. Latest values: </span>
        <ul class="legend">
          {series.map((one) => (
            <li key={one.key}>
              <i class="swatch" style={{ background: `var(--${one.colour})` }} />
              {one.label} <b>{last(one.key) === null ? "none" : format(last(one.key))}</b>
            </li>
          ))}
        </ul>
      </figcaption>
    </figure>
  );
}

const COLUMNS = ["DEVICE", "HOST", "DISK", "STORE"];

/** Bytes between tiers: to colder tiers above the middle, to warmer ones below it. */
export function Flow({ moved }) {
  const [ref, width] = useWidth();
  const edges = moved.filter((edge) => edge.bytes > 0 && COLUMNS.includes(edge.to) && (COLUMNS.includes(edge.from) || edge.from === "UNKNOWN"));
  const several = edges.some((edge) => edge.from === "UNKNOWN");
  const names = several ? [...COLUMNS, "UNKNOWN"] : COLUMNS;
  const label = (name) => (name === "UNKNOWN" ? "several" : name.toLowerCase());
  const total = Math.max(...[true, false].map((down) => edges.filter((e) => names.indexOf(e.from) < names.indexOf(e.to) === down).reduce((a, e) => a + e.bytes, 0)), 1);
  const height = 220;
  const bar = 14;
  const left = 4;
  const step = width ? (width - bar - 2 * left) / (names.length - 1) : 0;
  const thick = (n) => Math.max(1.5, (n / total) * 70);
  const paths = [];
  for (const down of [true, false]) {
    const used = {};
    for (const edge of edges.filter((e) => names.indexOf(e.from) < names.indexOf(e.to) === down)) {
      const a = names.indexOf(edge.from);
      const b = names.indexOf(edge.to);
      const w = thick(edge.bytes);
      const place = (name, side) => {
        const key = name + side;
        const at = used[key] || 0;
        used[key] = at + w;
        return down ? 30 + at + w / 2 : height - 34 - at - w / 2;
      };
      const y1 = place(edge.from, "out");
      const y2 = place(edge.to, "in");
      const x1 = left + a * step + (down ? bar : 0);
      const x2 = left + b * step + (down ? 0 : bar);
      const mid = (x1 + x2) / 2;
      paths.push({ ...edge, d: `M${x1},${y1} C${mid},${y1} ${mid},${y2} ${x2},${y2}`, w, down });
    }
  }
  const text = edges.map((e) => `${label(e.from)} to ${label(e.to)} ${bytes(e.bytes)}`).join(", ") || "nothing moved";
  return (
    <div class="flow">
      <div ref={ref}>
        {width > 0 && (
          <svg width={width} height={height} role="img" aria-label={`Bytes moved between tiers: ${text}`}>
            {paths.map((p) => (
              <path key={p.from + p.to} d={p.d} fill="none" stroke={`var(--${p.from === "UNKNOWN" ? "computed" : p.from.toLowerCase()})`} stroke-width={p.w} opacity="0.55">
                <title>{`${label(p.from)} to ${label(p.to)}: ${bytes(p.bytes)}`}</title>
              </path>
            ))}
            {names.map((name, i) => (
              <g key={name}>
                <rect x={left + i * step} y="24" width={bar} height={height - 52} rx="3" fill={`var(--${name === "UNKNOWN" ? "computed" : name.toLowerCase()})`} />
                <text x={left + i * step + (i === 0 ? 0 : i === names.length - 1 ? bar : bar / 2)} y="14" class="tiername"
                  text-anchor={i === 0 ? "start" : i === names.length - 1 ? "end" : "middle"}>{label(name)}</text>
              </g>
            ))}
            <text x={width / 2} y={height - 6} text-anchor="middle" class="note">upper half: to colder tiers; lower half: back</text>
          </svg>
        )}
      </div>
      <ul class="edges">
        {edges.map((e) => (
          <li key={e.from + e.to}><span>{label(e.from)} → {label(e.to)}</span> <b>{bytes(e.bytes)}</b></li>
        ))}
        {edges.length === 0 && <li>nothing moved</li>}
      </ul>
    </div>
  );
}

/** Parts of a whole in one bar. */
export function Parts({ parts, label }) {
  const all = parts.reduce((sum, part) => sum + part.value, 0) || 1;
  return (
    <div class="parts" role="img" aria-label={`${label}: ${parts.map((p) => `${p.label} ${((100 * p.value) / all).toFixed(1)} %`).join(", ")}`}>
      {parts.filter((part) => part.value > 0).map((part) => (
        <span key={part.label} title={`${part.label}: ${((100 * part.value) / all).toFixed(1)} %`} style={{ width: `${(100 * part.value) / all}%`, background: `var(--${part.colour})` }} />
      ))}
    </div>
  );
}

export const tierSeries = TIERS.map((tier) => ({ key: tier, label: tier, colour: tier }));
