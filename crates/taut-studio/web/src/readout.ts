// The numbers over the view.

import { byId } from "./controls";
import { givenWayText } from "./given-way";
import type { Frame, Parameters } from "./protocol";

/** Maximum excess past the limit at which a strain counts as "nearly" held. */
const NEARLY = 0.05;
/** Minimum interval of updates, so that the numbers are legible [ms]. */
const PAUSE = 100;
let told = -Infinity;

export function showFrameNumbers(frame: Frame, parameters: Parameters | null, tolerance: number, rate: number | null): void {
  const now = performance.now();
  if (now - told < PAUSE && rate !== null) return;
  told = now;
  const text = (id: string, value: string) => (byId(id).textContent = value);
  text("at-frame", String(frame.frame));
  text("at-time", `${frame.time.toFixed(2)} s`);
  text("at-rate", rate === null ? "–" : `${rate.toFixed(0)} per second`);
  text("at-iterations", `${frame.iterations}${frame.converged ? "" : " (not converged)"}`);
  strain("at-strain", frame.maxStrain, parameters?.stretch_max ?? null, tolerance);
  strain("at-squeeze", frame.minStrain, parameters?.stretch_min ?? null, tolerance);
  byId("given-way").hidden = frame.givenWay === null;
  if (frame.givenWay !== null) text("given-way", givenWayText(frame.givenWay));
}

function strain(id: string, value: number, limit: number | null, tolerance: number): void {
  const cell = byId(id);
  const number = Math.abs(value) < 100 ? `${value >= 0 ? "+" : "−"}${Math.abs(100 * value).toFixed(1)} %` : "beyond all bounds";
  cell.textContent = number;
  const past = limit === null ? null : (value - limit) * (id === "at-squeeze" ? -1 : 1);
  if (past === null) delete cell.dataset.holds;
  // Half a thousandth for rounding to 32 bits and to a digit.
  else cell.dataset.holds = past <= tolerance + 0.0005 ? "yes" : past <= NEARLY ? "nearly" : "no";
  cell.title = limit === null ? "no limit" : `limit ${(100 * limit).toFixed(1)} %`;
}

export function showDelay(median: number | null): void {
  byId("delay-row").hidden = median === null;
  if (median !== null) byId("at-delay").textContent = `${median.toFixed(0)} ms`;
}
