// The scale of the colouring that is shown; the same stops as in the server's colours.

import type { Colouring } from "./protocol";

const STOPS: Record<Exclude<Colouring, "none">, string[]> = {
  strain: ["#283e96", "#4c82c4", "#a0c8de", "#eeece6", "#f0b08c", "#d05848", "#92162a"],
  residual: ["#eceae2", "#fad07c", "#ee8234", "#c43424", "#680e26"],
  hsv: ["#000000", "#ffffff"],
};
const TITLES: Record<Exclude<Colouring, "none">, string> = {
  strain: "Largest principal strain",
  residual: "Strain past the limit",
  hsv: "Strain past the limit; hue: its direction",
};

export function showScale(box: HTMLElement, colouring: Colouring, range: number | undefined): void {
  box.hidden = colouring === "none";
  if (colouring === "none") return;
  const part = (id: string) => box.querySelector<HTMLElement>(`#scale-${id}`)!;
  const bar = part("bar") as HTMLCanvasElement;
  const g = bar.getContext("2d")!;
  const fill = g.createLinearGradient(0, 0, bar.width, 0);
  const stops = STOPS[colouring];
  stops.forEach((stop, k) => fill.addColorStop(k / (stops.length - 1), stop));
  g.fillStyle = fill;
  g.fillRect(0, 0, bar.width, bar.height);
  const percent = (share: number) => `${Number((100 * share).toPrecision(2))} %`;
  part("title").textContent = TITLES[colouring];
  const low = colouring === "strain" ? -1 : 0;
  part("low").textContent = range === undefined ? (low < 0 ? "squeezed" : "none") : percent(low * range);
  part("high").textContent = range === undefined ? (low < 0 ? "stretched" : "most") : percent(range);
}
