// The help that `?` opens: what the pointer, fingers and keys do.

const SECTIONS: [string, [string, string][]][] = [
  ["Mouse", [
    ["Drag cloth", "pull it; hold Shift for the other grip"],
    ["Wheel while holding", "nearer or away"],
    ["Drag beside it", "turn the view; Alt: also on cloth"],
    ["Right drag", "move the view"],
    ["Wheel", "zoom"],
  ]],
  ["Touch", [
    ["One finger on cloth", "pull it; more fingers hold more points"],
    ["One finger beside it", "turn the view"],
    ["Two fingers beside it", "move and zoom"],
    ["Pin", "a tap pins or unpins"],
  ]],
  ["Time", [
    ["Space", "play or pause"],
    ["N", "one frame"],
    ["R", "back to the start"],
  ]],
  ["Hands", [
    ["P", "pin or unpin under the pointer"],
    ["T", "soft or hard grip"],
    ["G", "hold or let go in the middle of the view"],
    ["Arrows while holding", "move what G holds"],
    ["Esc", "let go of everything"],
  ]],
  ["View", [
    ["Arrows", "turn the view (the view has the focus)"],
    ["Shift Arrows", "move the view"],
    ["+ −", "nearer, away"],
    ["F", "see all"],
    ["W", "edges of the mesh"],
    ["C", "next colouring"],
    ["L", "levels: hidden, over, beside"],
  ]],
  ["Limits and windows", [
    ["1 2 3", "limiter off, per edge, isotropic"],
    ["S", "scenes"],
    ["H", "hide or show the controls"],
    ["?", "this help"],
  ]],
];
const GRIPS =
  "A soft grip pulls like a rubber band. A hard grip follows the hand as far as the limits of the cloth let it: pull further, and it goes taut. " +
  "One viewer drives; the others watch and may take the wheel.";

export function fillHelp(dialog: HTMLDialogElement): void {
  const form = element("form", "");
  form.setAttribute("method", "dialog");
  const head = document.createElement("header");
  const title = element("h2", "How to hold the cloth");
  title.id = "help-title";
  const close = element("button", "×");
  close.className = "icon";
  close.setAttribute("aria-label", "Close");
  head.append(title, close);
  form.append(head);
  const columns = element("div", "");
  columns.className = "help-columns";
  for (const [name, rows] of SECTIONS) {
    const section = document.createElement("section");
    const list = document.createElement("dl");
    for (const [what, does] of rows) {
      const term = document.createElement("dt");
      const isKeys = !["Mouse", "Touch"].includes(name);
      term.append(...(isKeys ? keys(what) : [what]));
      list.append(term, element("dd", does));
    }
    section.append(element("h3", name), list);
    columns.append(section);
  }
  dialog.replaceChildren(form, columns, element("p", GRIPS));
}

/** Each key as a key; small words between them stay words. */
function keys(text: string): (HTMLElement | string)[] {
  return text.split(" ").flatMap((word) => [["while", "holding"].includes(word) ? word : element("kbd", word), " "]);
}

function element(tag: string, text: string): HTMLElement {
  const made = document.createElement(tag);
  made.textContent = text;
  return made;
}
