// Numbers and times as people read them.
export const count = (n) => Number(n || 0).toLocaleString("en-US");
export const percent = (share, digits = 1) => `${(100 * (share || 0)).toFixed(digits)} %`;
export const millis = (ms) => (ms < 1 ? "0 ms" : ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);
export const rate = (n) => (n >= 100 ? Math.round(n).toLocaleString("en-US") : n >= 10 ? n.toFixed(1) : n.toFixed(2));

export function bytes(n) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let value = Number(n || 0);
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

export function age(ms) {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 120) return `${s} s`;
  if (s < 7200) return `${Math.round(s / 60)} min`;
  return s < 172_800 ? `${Math.round(s / 3600)} h` : `${Math.round(s / 86_400)} days`;
}

export function clock(ms) {
  if (!ms) return "";
  const at = new Date(ms);
  const two = (n) => String(n).padStart(2, "0");
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** Day and time. */
export function stampOf(ms) {
  const at = new Date(ms);
  return `${at.getFullYear()}-${String(at.getMonth() + 1).padStart(2, "0")}-${String(at.getDate()).padStart(2, "0")} ${clock(ms)}`;
}

/** Begins a sentence with it. */
export const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);
export const words = (name) => String(name || "").toLowerCase().replaceAll("_", " ");
export const TIERS = ["device", "host", "disk", "store", "peer"];

export function span(minutes) {
  if (minutes % 1440 === 0) return "day";
  if (minutes % 60 === 0) return minutes === 60 ? "hour" : `${minutes / 60} h`;
  return `${minutes} min`;
}
