// Short messages over the view. Screen readers announce them too: notices politely, problems immediately.

import { byId } from "./controls";

const STAYS = 5000;

export function notice(text: string): void {
  show("polite", text, STAYS);
}

export function problem(text: string): void {
  show("urgent", text, 1.6 * STAYS);
}

function show(id: string, text: string, milliseconds: number): void {
  const list = byId(id);
  // A repeated message only stays longer.
  for (const old of list.querySelectorAll("p")) if (old.textContent === text) old.remove();
  while (list.children.length >= 3) list.firstElementChild?.remove();
  const line = document.createElement("p");
  line.textContent = text;
  list.append(line);
  setTimeout(() => line.remove(), milliseconds);
}
