// The slider over the log, and the moment that is shown.
import { useState } from "preact/hooks";
import { stampOf } from "./format.js";

const STEP_MS = 1000;

export function TimeTravel({ past, range, setPast, close, reading }) {
  const [held, setHeld] = useState(null); // while the slider is being moved
  const at = held ?? (past || range.lastMs);
  const live = () => {
    setHeld(null);
    setPast(0);
    close();
  };
  return (
    <section class={past ? "travel past" : "travel"} aria-label="Time travel">
      <p role="status">{past ? <><b>As of {stampOf(at)}</b>{reading ? ", reading the log" : ""}</> : "Choose a moment of the log."}</p>
      <input type="range" aria-label="Moment" aria-valuetext={stampOf(at)} min={range.firstMs} max={range.lastMs} step={STEP_MS} value={at}
        onInput={(e) => setHeld(Number(e.currentTarget.value))}
        onChange={(e) => { setHeld(null); setPast(Number(e.currentTarget.value)); }} />
      <button type="button" class={past ? "main" : ""} onClick={live}>Back to live</button>
    </section>
  );
}
