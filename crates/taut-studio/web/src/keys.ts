// Keyboard shortcuts; the help lists them.

import type { Controls } from "./controls";
import { byId } from "./controls";
import type { GripInput } from "./drag";
import type { Stage } from "./scene";

export function listenToKeys(stage: Stage, gripInput: GripInput, controls: Controls): void {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target as HTMLElement;
    const writes = target.matches("input:not([type=range], [type=checkbox], [type=radio]), select, textarea");
    const inDialog = document.querySelector("dialog[open]") !== null;
    if (event.key === "?" && !writes) {
      controls.toggleDialog("help");
      return;
    }
    if (writes || inDialog) return;
    const done = target === stage.canvas ? onView(event, stage, gripInput) || onPage(event, stage, gripInput, controls) : onPage(event, stage, gripInput, controls);
    if (done) event.preventDefault();
  });
}

const ARROWS: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** Keys of the view only; elsewhere arrows move sliders. */
function onView(event: KeyboardEvent, stage: Stage, gripInput: GripInput): boolean {
  const arrow = ARROWS[event.key];
  if (arrow && gripInput.holdingByKeys) gripInput.pullByKeys(14 * arrow[0], 14 * arrow[1]);
  else if (arrow && event.shiftKey) stage.nudge({ pan: [0.04 * arrow[0], -0.04 * arrow[1]] });
  else if (arrow) stage.nudge({ turn: [0.08 * arrow[0], 0.06 * arrow[1]] });
  else if (event.key === "+" || event.key === "=") stage.nudge({ nearer: 1 / 1.12 });
  else if (event.key === "-" || event.key === "_") stage.nudge({ nearer: 1.12 });
  else return false;
  return true;
}

function onPage(event: KeyboardEvent, stage: Stage, gripInput: GripInput, controls: Controls): boolean {
  const press = (id: string) => byId<HTMLButtonElement>(id).click();
  const button = (event.target as HTMLElement).matches("button, summary, input");
  switch (event.key.toLowerCase()) {
    case " ":
      // On a button, space presses that button.
      if (button || event.repeat) return false;
      press("play");
      return true;
    case "n": press("step"); return true;
    case "r": press("reset"); return true;
    case "p":
      if (!event.repeat) gripInput.pinHere();
      return true;
    case "g":
      if (!event.repeat) {
        stage.canvas.focus();
        gripInput.holdByKeys((gripInput.tool === "hard") !== event.shiftKey);
      }
      return true;
    case "t": controls.choose("pointer", gripInput.tool === "soft" ? "hard" : "soft"); return true;
    case "b": controls.choose("pointer", "comb"); return true;
    case "x": controls.choose("pointer", "cut"); return true;
    case "f": stage.lookAtAll(); return true;
    case "w": press("wireframe"); return true;
    case "c": controls.next("colouring"); return true;
    case "l": controls.next("levels"); return true;
    case "1": controls.choose("limiter", "off"); return true;
    case "2": controls.choose("limiter", "edge"); return true;
    case "3": controls.choose("limiter", "isotropic"); return true;
    case "s": controls.openScenePicker(); return true;
    case "h": controls.togglePanel(); return true;
    case "escape": gripInput.letAll(); return true;
    default: return false;
  }
}
