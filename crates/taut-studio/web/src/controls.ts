// Controls around the view: transport, panel, scene picker, save and export, keys.

import { fillHelp } from "./help";
import type { Tool } from "./drag";
import type { Colouring, Key, Parameters, ToServer } from "./protocol";
import { Sliders } from "./sliders";

export type LevelsShown = "hidden" | "over" | "beside";

export interface Actions {
  send(message: ToServer): void;
  set(key: Key, value: Parameters[Key]): void;
  parameters(): Parameters | null;
  initial(): Parameters | null;
  tool(tool: Tool): void;
  levels(shown: LevelsShown): void;
  wireframe(shown: boolean): void;
  quality(name: "auto" | "low" | "medium" | "high"): void;
  lookAtAll(): void;
  retry(): void;
  picture(): Promise<Blob | null>;
  notice(text: string): void;
  problem(text: string): void;
}

export interface Shown {
  open: boolean;
  driving: boolean;
  live: boolean;
  playing: boolean;
  hasLevels: boolean;
  /** Whether there is hair, to be combed and cut. */
  hasHair: boolean;
  viewers: number;
  name: string;
  description: string;
  frames: number | null;
}

interface SceneEntry {
  name: string;
  description: string;
  source: string;
}

/** Time after a user input during which frames do not move the timeline [ms]. */
const SEEKING = 400;

export const byId = <T extends HTMLElement>(id: string): T => {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element ${id}`);
  return found as T;
};

export class Controls {
  private readonly sliders: Sliders;
  private shown: Shown | null = null;
  private scenes: SceneEntry[] = [];
  private seeking = -Infinity;
  private sync = 0;
  private lastFrame = 0;
  private hasMaterials = false;

  constructor(private readonly act: Actions) {
    this.sliders = new Sliders(() => act.parameters(), (key, value) => act.set(key, value));
    this.transport();
    this.panel();
    this.files();
    fillHelp(byId<HTMLDialogElement>("help"));
    byId("help-open").onclick = () => this.toggleDialog("help");
    byId("scene-open").onclick = () => void this.openScenes();
    byId("panel-toggle").onclick = () => this.togglePanel();
    byId("drive").onclick = () => act.send({ type: "drive" });
    byId("retry").onclick = () => act.retry();
    if (innerWidth < 620) this.togglePanel();
    for (const dialog of document.querySelectorAll("dialog")) {
      dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    }
  }

  private transport(): void {
    const { act } = this;
    byId("play").onclick = () => this.playOrPause();
    byId("step").onclick = () => act.send({ type: "step" });
    byId("reset").onclick = () => act.send({ type: "reset" });
    const timeline = byId<HTMLInputElement>("timeline");
    timeline.oninput = () => {
      this.seeking = performance.now();
      clearTimeout(this.sync);
      this.sync = window.setTimeout(() => this.showFrame(this.lastFrame), SEEKING + 50);
      byId("timeline-at").textContent = `${timeline.value} / ${timeline.max}`;
      act.send({ type: "seek", frame: Number(timeline.value) });
    };
    onChoice("pointer", (value) => act.tool(value as Tool));
  }

  private panel(): void {
    const { act } = this;
    onChoice("limiter", (value) => act.set("limiter", value as Parameters["limiter"]));
    onChoice("fps", (value) => act.set("fps", Number(value) as 30 | 60));
    onChoice("colouring", (value) => act.set("colouring", value as Colouring));
    onChoice("levels", (value) => act.levels(value as LevelsShown));
    const material = byId<HTMLSelectElement>("material");
    material.onchange = () => act.set("material", material.value || null);
    const wireframe = byId<HTMLInputElement>("wireframe");
    wireframe.onchange = () => act.wireframe(wireframe.checked);
    const quality = byId<HTMLSelectElement>("quality");
    quality.onchange = () => act.quality(quality.value as "auto");
    byId("look-all").onclick = () => act.lookAtAll();
    byId("as-scene").onclick = () => this.asScene();
  }

  /** Restores the scene's own values. */
  private asScene(): void {
    const [now, initial] = [this.act.parameters(), this.act.initial()];
    if (!now || !initial) return;
    const keys: Key[] = ["limiter", "stretch_max", "stretch_min", "bend_max", "tear", "material", "stiffness", "gravity", "wind", "budget_ms", "fps"];
    const changed = keys.filter((key) => JSON.stringify(now[key]) !== JSON.stringify(initial[key]));
    for (const key of changed) this.act.set(key, initial[key]);
    this.act.notice(changed.length > 0 ? "Values of the scene restored." : "Nothing was changed.");
  }

  private files(): void {
    const save = byId<HTMLDialogElement>("save");
    const name = byId<HTMLInputElement>("save-name");
    byId("save-open").onclick = () => {
      name.value = `my-${this.shown?.name ?? "scene"}`.replace(/[^A-Za-z0-9_-]+/g, "-");
      save.showModal();
      name.select();
    };
    byId("save-close").onclick = () => save.close();
    byId<HTMLFormElement>("save-form").onsubmit = () => this.act.send({ type: "save", name: name.value });
    for (const format of ["toml", "obj", "ply"]) byId(`export-${format}`).onclick = () => void this.download(format);
    byId("export-png").onclick = async () => {
      const blob = await this.act.picture();
      if (blob) keep(blob, `${this.shown?.name ?? "taut"}.png`);
      else this.act.problem("The browser could not write the image.");
    };
  }

  private async download(format: string): Promise<void> {
    try {
      const answer = await fetch(`/api/export?format=${format}`);
      if (!answer.ok) throw new Error((await answer.text()) || `the server answered ${answer.status}`);
      const named = /filename="?([^";]+)"?/.exec(answer.headers.get("content-disposition") ?? "");
      keep(await answer.blob(), named?.[1] ?? `${this.shown?.name ?? "taut"}.${format}`);
    } catch (error) {
      this.act.problem(`Export failed: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  /** The list of scenes, requested each time because files may change. */
  private async openScenes(): Promise<void> {
    const dialog = byId<HTMLDialogElement>("scenes");
    if (dialog.open || byId<HTMLButtonElement>("scene-open").disabled) return;
    try {
      const answer = await fetch("/api/scenes");
      if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
      this.scenes = (await answer.json()) as SceneEntry[];
    } catch (error) {
      this.act.problem(`The list of scenes could not be loaded: ${error instanceof Error ? error.message : String(error)}`);
      return;
    }
    const filter = byId<HTMLInputElement>("scene-filter");
    filter.value = "";
    filter.oninput = () => this.listScenes(filter.value);
    this.listScenes("");
    dialog.showModal();
    filter.focus();
  }

  private listScenes(filter: string): void {
    const wanted = filter.trim().toLowerCase();
    const fits = this.scenes.filter((scene) => `${scene.name} ${scene.description}`.toLowerCase().includes(wanted));
    const items = fits.map((scene) => {
      const button = document.createElement("button");
      const [title, text] = [document.createElement("b"), document.createElement("small")];
      title.textContent = scene.name;
      text.textContent = scene.source === "file" ? `${scene.description} (file)` : scene.description;
      button.append(title, text);
      button.dataset.scene = scene.name;
      button.disabled = !this.shown?.driving;
      button.setAttribute("aria-current", String(scene.name === this.shown?.name));
      button.onclick = () => {
        byId<HTMLDialogElement>("scenes").close();
        this.act.send({ type: "scene", name: scene.name });
      };
      const item = document.createElement("li");
      item.append(button);
      return item;
    });
    byId("scene-list").replaceChildren(...items);
    if (items.length === 0) byId("scene-list").textContent = "No matching scene.";
  }

  playOrPause(): void {
    this.act.send({ type: this.shown?.playing ? "pause" : "play" });
  }

  togglePanel(): void {
    const hide = document.body.dataset.panel !== "hidden";
    document.body.dataset.panel = hide ? "hidden" : "shown";
    byId("panel-toggle").setAttribute("aria-expanded", String(!hide));
  }

  toggleDialog(id: string): void {
    const dialog = byId<HTMLDialogElement>(id);
    if (dialog.open) dialog.close();
    else dialog.showModal();
  }

  openScenePicker(): void {
    void this.openScenes();
  }

  /** Chooses the next of a group of choices, as a key does. */
  next(group: string): void {
    const inputs = [...document.querySelectorAll<HTMLInputElement>(`#${group} input`)].filter((input) => !input.disabled);
    const at = inputs.findIndex((input) => input.checked);
    this.choose(group, inputs[(at + 1) % inputs.length]?.value);
  }

  choose(group: string, value: string | undefined): void {
    const input = document.querySelector<HTMLInputElement>(`#${group} input[value="${value}"]`);
    if (!input || input.disabled) return;
    input.checked = true;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  }

  /** Shows a choice without making it. */
  check(group: string, value: string): void {
    const input = document.querySelector<HTMLInputElement>(`#${group} input[value="${value}"]`);
    if (input) input.checked = true;
  }

  showParameters(parameters: Parameters): void {
    this.sliders.show(parameters);
    byId<HTMLSelectElement>("material").value = parameters.material ?? "";
    this.check("limiter", parameters.limiter);
    this.check("fps", String(parameters.fps));
    this.check("colouring", parameters.colouring);
    if (!parameters.levels_shown) this.check("levels", "hidden");
  }

  /** Lists the materials that cloth can be made of. */
  showMaterials(names: string[]): void {
    const option = (value: string, text: string) => new Option(text, value);
    byId("material").replaceChildren(option("", "As in the scene"), ...names.map((name) => option(name, name)));
    this.hasMaterials = names.length > 0;
  }

  showState(shown: Shown): void {
    this.shown = shown;
    const able = shown.open && shown.driving;
    const changes = able && shown.live;
    this.sliders.enable(changes);
    enable(["limiter", "fps"], changes);
    byId<HTMLSelectElement>("material").disabled = !changes || !this.hasMaterials;
    enable(["colouring", "pointer"], able);
    enable(["levels"], able && shown.hasLevels);
    const forHair = shown.live && shown.hasHair;
    for (const label of document.querySelectorAll<HTMLElement>(".for-hair")) {
      const input = label.querySelector("input")!;
      label.hidden = !forHair;
      input.disabled = !able || !forHair;
      if (!forHair && input.checked) this.choose("pointer", "soft");
    }
    byId("levels").title = shown.hasLevels ? "" : "Only cloth has coarser levels.";
    for (const id of ["play", "step", "reset"]) byId<HTMLButtonElement>(id).disabled = !able;
    byId<HTMLButtonElement>("scene-open").disabled = !shown.open || !shown.live;
    for (const id of ["save-open", "as-scene"]) byId<HTMLButtonElement>(id).disabled = !changes;
    for (const id of ["export-toml", "export-obj", "export-ply"]) byId<HTMLButtonElement>(id).disabled = !shown.open;
    byId("play").setAttribute("aria-pressed", String(shown.playing));
    byId("play").title = shown.playing ? "Pause (Space)" : "Play (Space)";
    byId("play-label").textContent = shown.playing ? "Pause" : "Play";
    byId("scene-name").textContent = shown.name || "…";
    byId("scene-description").textContent = byId("scene-description").title = shown.description;
    document.title = shown.name ? `${shown.name} · taut studio` : "taut studio";

    const seat = byId("seat");
    seat.dataset.seat = !shown.open ? "none" : shown.driving ? "driving" : "watching";
    const others = shown.viewers > 1 ? ` · ${shown.viewers} viewers` : "";
    seat.textContent = !shown.open ? "offline" : (shown.driving ? "In control" : "Watching") + others;
    byId("drive").hidden = !shown.open || shown.driving;

    const timeline = byId<HTMLInputElement>("timeline");
    byId("timeline-row").hidden = shown.frames === null;
    timeline.max = String(shown.frames ?? 0);
    timeline.disabled = !able;
  }

  /** Moves the timeline, unless the user is dragging it. */
  showFrame(frame: number): void {
    this.lastFrame = frame;
    const timeline = byId<HTMLInputElement>("timeline");
    if (byId("timeline-row").hidden || performance.now() - this.seeking < SEEKING) return;
    timeline.value = String(frame);
    byId("timeline-at").textContent = `${frame} / ${timeline.max}`;
  }
}

function onChoice(group: string, chosen: (value: string) => void): void {
  byId(group).addEventListener("change", (event) => chosen((event.target as HTMLInputElement).value));
}

function enable(groups: string[], able: boolean): void {
  for (const group of groups) {
    for (const input of document.querySelectorAll<HTMLInputElement>(`#${group} input`)) input.disabled = !able;
  }
}

/** Downloads a file. */
function keep(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
