// Limits that could not be met, in a sentence.

import type { GivenWay } from "./protocol";

/** How many limits could not be met, and how far elements are past them. */
export function givenWayText({ elements, lower, upper }: GivenWay): string {
  const percent = (value: number) => `${(100 * value).toFixed(1)} %`;
  const side = (word: string, [mean, largest]: [number, number]) =>
    largest < 0.0005 ? [] : [`${word} past theirs by ${percent(mean)} on average, ${percent(largest)} at most`];
  const sides = [...side("compressed", lower), ...side("stretched", upper)];
  const whole = `Limits that cannot be met gave way in ${elements} ${elements === 1 ? "element" : "elements"}`;
  return sides.length > 0 ? `${whole}: ${sides.join("; ")}` : `${whole}; all are within the given limits again`;
}
