// The help dialog (`?`): mouse, touch and keyboard controls.

const SECTIONS: [string, [string, string][]][] = [
  ["Mouse", [
    ["Drag cloth", "pull it; hold Shift for the other grip"],
    ["Wheel while holding", "move the grip nearer or away"],
    ["Drag beside it", "rotate the view; Alt: also on cloth"],
    ["Right drag", "pan the view"],
    ["Wheel", "zoom"],
  ]],
  ["Touch", [
    ["One finger on cloth", "pull it; more fingers grip more points"],
    ["One finger beside it", "rotate the view"],
    ["Two fingers beside it", "pan and zoom"],
    ["Pin", "tap to pin or unpin"],
  ]],
  ["Time", [
    ["Space", "play or pause"],
    ["N", "one frame"],
    ["R", "reset to the initial state"],
  ]],
  ["Grips", [
    ["P", "pin or unpin under the pointer"],
    ["T", "soft or hard grip"],
    ["G", "grip or release at the centre of the view"],
    ["Arrows while holding", "move the grip"],
    ["Esc", "release all grips"],
    ["B", "comb hair: drag from a strand"],
    ["X", "cut the hair that a drag crosses"],
  ]],
  ["View", [
    ["Arrows", "rotate the view (when it has the focus)"],
    ["Shift Arrows", "pan the view"],
    ["+ −", "zoom in, zoom out"],
    ["F", "fit view"],
    ["W", "wireframe"],
    ["C", "next colouring"],
    ["L", "levels: hidden, overlay, beside"],
  ]],
  ["Limits and windows", [
    ["1 2 3", "limiter off, per edge, isotropic"],
    ["S", "scenes"],
    ["H", "hide or show the controls"],
    ["?", "this help"],
  ]],
];
const GRIPS =
  "A soft grip pulls like a spring. A hard grip follows the pointer as far as the limits of the cloth allow: pull further, and it goes taut. " +
  "One viewer has control; the others watch and can take control.";

export function fillHelp(dialog: HTMLDialogElement): void {
  const form = element("form", "");
  form.setAttribute("method", "dialog");
  const head = document.createElement("header");
  const title = element("h2", "Controls");
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

/** Formats each key as a key; words between them stay text. */
function keys(text: string): (HTMLElement | string)[] {
  return text.split(" ").flatMap((word) => [["while", "holding"].includes(word) ? word : element("kbd", word), " "]);
}

function element(tag: string, text: string): HTMLElement {
  const made = document.createElement(tag);
  made.textContent = text;
  return made;
}
