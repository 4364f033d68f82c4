// The plots below the view: largest and mean residual, and milliseconds per frame by stage.

import { STAGES } from "./protocol";

export interface Entry {
  largest: number;
  mean: number;
  milliseconds: readonly number[];
}

const KEPT = 240;
/** Colours of the stages and of the rest of the frame; distinguishable in both themes and with most colour vision. */
const INKS = ["#5b8fd6", "#d58b2f", "#4fa37c", "#b5679b", "#8a8f3c", "#8d8d92"];
const NAMES = [...STAGES.slice(0, 5), "other"];
/** Residuals below this are drawn at the bottom. */
const LEAST = 1e-5;
/** Minimum interval of redraws [ms]. */
const PAUSE = 150;

export class Plots {
  private entries: Entry[] = [];
  private timer = 0;
  private told = 0;
  budget = 0;
  tolerance: number | null = null;

  constructor(
    private readonly residual: HTMLCanvasElement,
    private readonly time: HTMLCanvasElement,
    private readonly residualCaption: HTMLElement,
    private readonly timeCaption: HTMLElement,
  ) {
    const again = () => this.soon();
    new ResizeObserver(again).observe(residual);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
    residualCaption.append(...["largest", "mean"].map((name, k) => item(k === 0 ? "var(--accent)" : "var(--dim)", name)));
    timeCaption.append(...NAMES.map((name, k) => item(INKS[k]!, name)));
  }

  add(entry: Entry): void {
    this.entries.push(entry);
    if (this.entries.length > KEPT) this.entries.shift();
    this.soon();
  }

  clear(): void {
    this.entries = [];
    this.soon();
  }

  private soon(): void {
    this.timer ||= window.setTimeout(() => {
      this.timer = 0;
      this.draw();
    }, PAUSE);
  }

  private draw(): void {
    const style = getComputedStyle(document.documentElement);
    const colour = (name: string) => style.getPropertyValue(name).trim();
    this.drawResiduals(colour("--accent"), colour("--dim"), colour("--edge"));
    this.drawTimes(colour("--dim"), colour("--edge"), colour("--ink"));
    this.tell();
  }

  private drawResiduals(strong: string, dim: string, edge: string): void {
    const { g, width, height } = prepare(this.residual);
    const decades = -Math.log10(LEAST);
    const y = (value: number) => 2 + (height - 4) * Math.min(1, Math.max(0, -Math.log10(Math.max(value, LEAST)) / decades));
    for (let k = 1; k <= decades; k++) {
      rule(g, width, y(10 ** -k), edge, []);
      label(g, `${Number((100 * 10 ** -k).toPrecision(1))} %`, y(10 ** -k), dim);
    }
    if (this.tolerance) rule(g, width, y(this.tolerance), strong, [4, 3]);
    const line = (ink: string, weight: number, value: (entry: Entry) => number) => {
      g.strokeStyle = ink;
      g.lineWidth = weight;
      g.beginPath();
      this.entries.forEach((entry, k) => g.lineTo(this.x(k, width), y(value(entry))));
      g.stroke();
    };
    line(dim, 1.2, (entry) => entry.mean);
    line(strong, 1.6, (entry) => entry.largest);
  }

  private drawTimes(dim: string, edge: string, ink: string): void {
    const { g, width, height } = prepare(this.time);
    const whole = (entry: Entry) => entry.milliseconds[5] ?? 0;
    const sorted = this.entries.map(whole).sort((a, b) => a - b);
    // A single slow frame should not compress the scale for all others.
    const usual = sorted[Math.floor(0.98 * (sorted.length - 1))] ?? 0;
    const top = roundUp(1.15 * Math.max(usual, this.budget, 1));
    const y = (ms: number) => height - (height - 4) * Math.min(1, ms / top);
    for (const share of [0.25, 0.5, 0.75, 1]) rule(g, width, y(share * top), edge, []);
    const floor = new Float64Array(this.entries.length);
    NAMES.forEach((_, stage) => {
      g.fillStyle = INKS[stage]!;
      g.beginPath();
      this.entries.forEach((_, k) => g.lineTo(this.x(k, width), y(floor[k]!)));
      for (let k = this.entries.length - 1; k >= 0; k--) {
        floor[k]! += part(this.entries[k]!, stage);
        g.lineTo(this.x(k, width), y(floor[k]!));
      }
      g.fill();
    });
    if (this.budget > 0) rule(g, width, y(this.budget), ink, [4, 3]);
    label(g, `${Number(top.toPrecision(3))} ms`, y(top) + 14, dim);
    if (this.budget > 0) label(g, "budget", y(this.budget), ink);
  }

  private x(k: number, width: number): number {
    return width - ((this.entries.length - 1 - k) * width) / (KEPT - 1);
  }

  /** The numbers next to the names, updated twice a second so that they are legible. */
  private tell(): void {
    const now = performance.now();
    const last = this.entries[this.entries.length - 1];
    if (!last || now - this.told < 500) return;
    this.told = now;
    const recent = this.entries.slice(-30);
    const mean = (value: (entry: Entry) => number) => recent.reduce((sum, entry) => sum + value(entry), 0) / recent.length;
    const numbers = (caption: HTMLElement, texts: string[]) =>
      caption.querySelectorAll("span > span").forEach((span, k) => (span.textContent = texts[k] ?? ""));
    const residuals = [last.largest, last.mean].map((value) => percent(value));
    numbers(this.residualCaption, residuals);
    const times = NAMES.map((_, stage) => mean((entry) => part(entry, stage)).toFixed(1));
    numbers(this.timeCaption, times);
    this.residual.setAttribute("aria-label", `Past the limit now: largest ${residuals[0]}, mean ${residuals[1]}`);
    this.time.setAttribute("aria-label", `Milliseconds per frame: ${NAMES.map((name, k) => `${name} ${times[k]}`).join(", ")}`);
  }
}

/** Milliseconds of a stage; the last is the rest of the frame. */
function part(entry: Entry, stage: number): number {
  if (stage < 5) return Math.max(0, entry.milliseconds[stage] ?? 0);
  const known = entry.milliseconds.slice(0, 5).reduce((sum, ms) => sum + Math.max(0, ms), 0);
  return Math.max(0, (entry.milliseconds[5] ?? 0) - known);
}

function item(ink: string, name: string): HTMLElement {
  const span = document.createElement("span");
  const mark = document.createElement("i");
  mark.style.background = ink;
  const number = document.createElement("span");
  span.append(mark, `${name} `, number);
  return span;
}

function prepare(canvas: HTMLCanvasElement): { g: CanvasRenderingContext2D; width: number; height: number } {
  const { clientWidth: width, clientHeight: height } = canvas;
  const ratio = Math.min(devicePixelRatio, 2);
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== high) Object.assign(canvas, { width: wide, height: high });
  // On the CPU: these few lines cost less there than a round trip to a busy GPU.
  const g = canvas.getContext("2d", { willReadFrequently: true })!;
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, width, height);
  g.lineJoin = "round";
  return { g, width, height };
}

function rule(g: CanvasRenderingContext2D, width: number, y: number, ink: string, dash: number[]): void {
  g.strokeStyle = ink;
  g.lineWidth = 1;
  g.setLineDash(dash);
  g.beginPath();
  g.moveTo(0, Math.round(y) + 0.5);
  g.lineTo(width, Math.round(y) + 0.5);
  g.stroke();
  g.setLineDash([]);
}

/** Above its line at the left. */
function label(g: CanvasRenderingContext2D, text: string, y: number, ink: string): void {
  g.fillStyle = ink;
  g.font = "11px system-ui, sans-serif";
  g.fillText(text, 3, y - 3);
}

/** Two digits, without powers of ten where possible. */
function percent(share: number): string {
  const value = 100 * share;
  if (!(value < 1e4)) return "> 10 000 %";
  return `${value >= 10 ? value.toFixed(0) : value < 0.001 ? "< 0.001" : value.toPrecision(2)} %`;
}

/** The smallest of 1, 2 and 5 times a power of ten that is not below the value. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5].find((step) => step * power >= value) ?? 10) * power;
}
