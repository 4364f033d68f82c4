// Sliders of the parameters: label, range and format of each.

import type { Key, Parameters, Vec3 } from "./protocol";

interface Spec {
  key: Key;
  id: string;
  label: string;
  /** Section of the panel. */
  place: "limits" | "forces" | "time";
  min: number;
  max: number;
  step: number;
  /** From a parameter to the slider's own number, null: free; and back. */
  read(value: Parameters): number | null;
  write(number: number, now: Parameters): Parameters[Key];
  text(number: number): string;
  /** The value after `free` is cleared; none: it cannot be free. */
  whenHeld?: number;
  /** What it is called when it is free. */
  free?: string;
}

const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
const bearing = ([x, , z]: Vec3) => (Math.hypot(x, z) > 1e-9 ? ((Math.atan2(x, z) * 180) / Math.PI + 360) % 360 : null);
const rise = ([x, y, z]: Vec3) => (Math.hypot(x, y, z) > 1e-9 ? (Math.atan2(y, Math.hypot(x, z)) * 180) / Math.PI : null);
/** Direction of a wind of zero speed, so that its sliders keep their positions [deg]. */
const still = { heading: 0, rise: 0 };

function wind(speed: number, heading: number, up: number): Vec3 {
  [still.heading, still.rise] = [heading, up];
  const [a, b] = [(heading * Math.PI) / 180, (up * Math.PI) / 180];
  const round = (value: number) => Math.round(1e4 * value) / 1e4;
  return [round(speed * Math.cos(b) * Math.sin(a)), round(speed * Math.sin(b)), round(speed * Math.cos(b) * Math.cos(a))];
}

const SPECS: Spec[] = [
  {
    key: "stretch_max", id: "stretch-max", label: "Stretch limit", place: "limits", min: 0, max: 0.3, step: 0.001, whenHeld: 0.05,
    read: (p) => p.stretch_max, write: (n) => n, text: percent,
  },
  {
    key: "stretch_min", id: "stretch-min", label: "Squeeze limit", place: "limits", min: 0, max: 0.3, step: 0.001, whenHeld: 0.05,
    read: (p) => (p.stretch_min === null ? null : -p.stretch_min), write: (n) => -n, text: (n) => percent(n === 0 ? 0 : -n),
  },
  {
    key: "bend_max", id: "bend-max", label: "Bend limit", place: "limits", min: 0.5, max: 60, step: 0.5, whenHeld: 15,
    read: (p) => p.bend_max, write: (n) => n, text: (n) => `${n.toFixed(1)}°/cm`,
  },
  {
    key: "tear", id: "tear", label: "Tears at", place: "limits", min: 0.01, max: 1, step: 0.01, whenHeld: 0.2, free: "never",
    read: (p) => p.tear, write: (n) => n, text: (n) => `${(100 * n).toFixed(0)} %`,
  },
  {
    key: "stiffness", id: "stiffness", label: "Stiffness", place: "limits", min: -2, max: 2, step: 0.02,
    read: (p) => Math.log10(Math.max(p.stiffness, 1e-3)), write: (n) => Number((10 ** n).toPrecision(4)),
    text: (n) => `× ${Number((10 ** n).toPrecision(2))}`,
  },
  {
    key: "gravity", id: "gravity", label: "Gravity", place: "forces", min: 0, max: 25, step: 0.01,
    read: (p) => p.gravity, write: (n) => n, text: (n) => `${n.toFixed(2)} m/s²`,
  },
  {
    key: "wind", id: "wind-speed", label: "Wind", place: "forces", min: 0, max: 20, step: 0.1,
    read: (p) => Math.hypot(...p.wind), text: (n) => `${n.toFixed(1)} m/s`,
    write: (n, now) => wind(n, bearing(now.wind) ?? still.heading, rise(now.wind) ?? still.rise),
  },
  {
    key: "wind", id: "wind-heading", label: "Wind blows towards", place: "forces", min: 0, max: 360, step: 1,
    read: (p) => bearing(p.wind) ?? still.heading, text: (n) => `${n.toFixed(0)}°`,
    write: (n, now) => wind(Math.hypot(...now.wind), n, rise(now.wind) ?? still.rise),
  },
  {
    key: "wind", id: "wind-rise", label: "Wind rises by", place: "forces", min: -89, max: 89, step: 1,
    read: (p) => rise(p.wind) ?? still.rise, text: (n) => `${n.toFixed(0)}°`,
    write: (n, now) => wind(Math.hypot(...now.wind), bearing(now.wind) ?? still.heading, n),
  },
  {
    key: "budget_ms", id: "budget", label: "Time budget", place: "time", min: 1, max: 33, step: 0.5,
    read: (p) => p.budget_ms, write: (n) => n, text: (n) => `${n.toFixed(1)} ms`,
  },
];

/** Minimum interval of messages while a slider moves [ms]. */
const PAUSE = 40;
/** Time after a user input during which server values do not move a slider [ms]. */
const OWN = 600;

/** One slider with its number, and its optional `free` box. */
class Slider {
  readonly row = document.createElement("div");
  private readonly input = document.createElement("input");
  private readonly output = document.createElement("output");
  private readonly free: HTMLInputElement | null = null;
  private timer = 0;
  private touched = -Infinity;

  constructor(
    private readonly spec: Spec,
    private readonly now: () => Parameters | null,
    private readonly set: (key: Key, value: Parameters[Key]) => void,
  ) {
    this.row.className = "slider";
    const label = document.createElement("label");
    label.htmlFor = spec.id;
    label.textContent = spec.label;
    Object.assign(this.input, { type: "range", id: spec.id, min: `${spec.min}`, max: `${spec.max}`, step: `${spec.step}` });
    this.output.htmlFor.add(spec.id);
    this.row.append(label, this.output);
    if (spec.whenHeld !== undefined) {
      this.free = document.createElement("input");
      Object.assign(this.free, { type: "checkbox", id: `${spec.id}-free` });
      const box = document.createElement("label");
      box.className = "free";
      const called = spec.free ?? "free";
      box.append(this.free, called);
      this.free.setAttribute("aria-label", `${spec.label}: ${called}`);
      this.free.addEventListener("change", () => this.setFree());
      this.row.append(box);
    }
    this.row.append(this.input);
    this.input.addEventListener("input", () => this.moved());
    this.input.addEventListener("change", () => this.flush());
  }

  /** Shows the server's value, unless the user is dragging it. */
  show(parameters: Parameters): void {
    if (performance.now() - this.touched < OWN) return;
    const number = this.spec.read(parameters);
    if (this.free) this.free.checked = number === null;
    if (number !== null) {
      this.input.max = String(Math.max(this.spec.max, number));
      this.input.min = String(Math.min(this.spec.min, number));
      this.input.value = String(number);
    }
    this.tell(number);
  }

  private tell(number: number | null): void {
    const text = number === null ? (this.spec.free ?? "free") : this.spec.text(number);
    this.output.textContent = this.free && number === null ? "" : text;
    this.input.setAttribute("aria-valuetext", text);
  }

  enable(able: boolean): void {
    this.input.disabled = !able;
    if (this.free) this.free.disabled = !able;
  }

  private moved(): void {
    this.touched = performance.now();
    if (this.free) this.free.checked = false;
    this.tell(Number(this.input.value));
    this.timer ||= window.setTimeout(() => this.flush(), PAUSE);
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = 0;
    const now = this.now();
    if (now) this.set(this.spec.key, this.spec.write(Number(this.input.value), now));
  }

  private setFree(): void {
    if (this.free?.checked) this.set(this.spec.key, null);
    else {
      this.input.value = String(Math.max(Number(this.input.value), this.spec.whenHeld ?? 0));
      this.flush();
    }
  }
}

export class Sliders {
  private readonly sliders: Slider[];

  constructor(now: () => Parameters | null, set: (key: Key, value: Parameters[Key]) => void) {
    this.sliders = SPECS.map((spec) => {
      const slider = new Slider(spec, now, set);
      document.getElementById(spec.place)!.append(slider.row);
      return slider;
    });
  }

  show(parameters: Parameters): void {
    for (const slider of this.sliders) slider.show(parameters);
  }

  enable(able: boolean): void {
    for (const slider of this.sliders) slider.enable(able);
  }
}
