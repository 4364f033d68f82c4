// The whole page in a real Chromium: against `taut view` (npm test), or against its stand-in (npm run test:mock).

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { framesLater, freeCorner, glide, measureStrain, pressAt, settled, startOver, takeWheel, whereIs } from "./gestures";
import { MOCK, OUT, best, freePort, isQuiet, median, openPage, sleep, startBrowser, startServer, until, type Running } from "./harness";

/** A second scene, small enough to start at once. */
const OTHER = MOCK ? "small-sheet" : "flag";
const LIMIT = 0.05;
const TOLERANCE = 0.01;

let server: Running;
let browser: Browser;
let page: Page;
let faults: string[];
let sent: string[];

before(async () => {
  mkdirSync(OUT, { recursive: true });
  server = await startServer("hanging-sheet", await freePort());
  browser = await startBrowser();
  ({ page, faults, sent } = await openPage(browser, server.url, { colorScheme: "light" }));
});

after(async () => {
  await browser?.close();
  await server?.stop();
});

const shot = (name: string, of = page) => of.screenshot({ path: join(OUT, `${name}.png`) });
const frame = () => page.evaluate(() => window.__taut!.frame());
const strain = () => page.evaluate(() => window.__taut!.maxStrain());
const parameter = <K extends string>(key: K) => page.evaluate((k) => (window.__taut!.parameters() as unknown as Record<string, unknown>)[k], key);

test("the page loads and frames arrive", async () => {
  assert.equal(await page.evaluate(() => window.__taut!.sceneName()), "hanging-sheet");
  assert.match(await page.title(), /hanging-sheet/);
  await framesLater(page, 30);
  const lowest = await page.evaluate(() => Math.min(...window.__taut!.positions(0).filter((_, k) => k % 3 === 1)));
  assert.ok(lowest < -0.05, `the sheet has not fallen: its lowest point is at ${lowest}`);
  assert.ok((await page.evaluate(() => window.__taut!.drawn())) > 5);
  assert.equal(await page.textContent("#seat"), "In control");
  assert.equal(await page.textContent("#link"), "Connected");
});

test("the picture shows the sheet", async () => {
  // Where the middle of the sheet is drawn, the picture has the colour of cloth, not of floor or background.
  await page.click("#play");
  await until(page, "the pause", () => !window.__taut!.playing());
  await sleep(500);
  const download = page.waitForEvent("download");
  await page.click("#export-png");
  const path = await (await download).path();
  const pixel = await page.evaluate(async (url) => {
    const canvas = document.querySelector<HTMLCanvasElement>("#view")!;
    const box = canvas.getBoundingClientRect();
    const x = window.__taut!.positions(0);
    const k = 3 * Math.floor(x.length / 6);
    const at = window.__taut!.project([x[k]!, x[k + 1]!, x[k + 2]!]);
    const image = new Image();
    image.src = url;
    await image.decode();
    const copy = new OffscreenCanvas(image.width, image.height).getContext("2d")!;
    copy.drawImage(image, 0, 0);
    const share = [(at.x - box.left) / box.width, (at.y - box.top) / box.height];
    return [...copy.getImageData(Math.floor(share[0]! * image.width), Math.floor(share[1]! * image.height), 1, 1).data];
  }, `data:image/png;base64,${readFileSync(path).toString("base64")}`);
  const [red, green, blue] = pixel as [number, number, number];
  await page.click("#play");
  assert.ok(Math.max(red, green, blue) - Math.min(red, green, blue) > 30, `grey there: ${pixel}`);
});

test("a drag moves the grabbed vertex with the pointer and releases it", async () => {
  await startOver(page, "hard");
  const corner = await freeCorner(page);
  const home = await settled(page, corner);
  const pressed = await pressAt(page, corner);
  await framesLater(page, 5);
  const before = (await whereIs(page, corner)).screen;
  const [dx, dy] = [70, -60];
  await glide(page, pressed, { x: pressed.x + dx, y: pressed.y + dy }, 500);
  await framesLater(page, 15);
  const held = (await whereIs(page, corner)).screen;
  await shot("held");
  assert.ok(Math.hypot(held.x - before.x - dx, held.y - before.y - dy) < 15, `moved by ${held.x - before.x}, ${held.y - before.y}, the pointer by ${dx}, ${dy}`);
  await page.mouse.up();
  assert.equal(await page.evaluate(() => window.__taut!.holding()), false);
  const back = await settled(page, corner);
  const left = Math.hypot(back.x - home.x, back.y - home.y);
  assert.ok(left < 0.5 * Math.hypot(dx, dy), `still ${left} pixels from where it hung`);
});

test("a soft grip pulls, and Shift chooses the other grip", async () => {
  await startOver(page, "soft");
  const corner = await freeCorner(page);
  const home = await settled(page, corner);
  const pressed = await pressAt(page, corner);
  await glide(page, pressed, { x: pressed.x + 60, y: pressed.y - 60 }, 300);
  await framesLater(page, 20);
  const pulled = (await whereIs(page, corner)).screen;
  await page.mouse.up();
  assert.ok(Math.hypot(pulled.x - home.x, pulled.y - home.y) > 15, "a soft grip has to move it, too");
  await settled(page, corner);
  await page.keyboard.down("Shift");
  await pressAt(page, corner);
  await page.mouse.up();
  await page.keyboard.up("Shift");
  const grabs = sent.filter((text) => text.includes('"grab"')).map((text) => (JSON.parse(text) as { hard: boolean }).hard);
  assert.deepEqual(grabs.slice(-2), [false, true]);
});

test("a slider changes the limit and the measured strain follows", async () => {
  await page.locator("#gravity").fill("20");
  const at = async (limit: number) => {
    await page.locator("#stretch-max").fill(String(limit));
    await until(page, "the new limit", (value) => Math.abs((window.__taut!.parameters()?.stretch_max ?? 0) - value) < 1e-6, limit);
    await framesLater(page, 60);
    return strain();
  };
  const loose = await at(0.15);
  const tight = await at(0.02);
  if (MOCK) assert.ok(tight < loose, `${tight} and ${loose}`);
  else assert.ok(loose > 0.08, `strain ${loose} under a limit of 15 %`);
  assert.ok(MOCK || tight <= 0.02 + TOLERANCE + 0.001, `strain ${tight} under a limit of 2 %`);
  await page.click("#as-scene");
  await until(page, "the values of the scene", () => Math.abs((window.__taut!.parameters()?.gravity ?? 0) - 9.81) < 0.01);
  assert.ok(Math.abs(Number(await parameter("stretch_max")) - LIMIT) < 1e-6);
});

test("every slider and choice reaches the server and comes back", async () => {
  const wait = (key: string, wanted: unknown) =>
    until(page, `${key} = ${JSON.stringify(wanted)}`, ([k, w]: [string, string]) => {
      const round = (_: string, v: unknown) => (typeof v === "number" ? Math.round(1000 * v) / 1000 : v);
      return JSON.stringify((window.__taut!.parameters() as unknown as Record<string, unknown>)[k], round) === w;
    }, [key, JSON.stringify(wanted)] as [string, string]);
  await page.locator("#stiffness").fill("1");
  await wait("stiffness", 10);
  assert.ok((await page.locator("#material option").count()) > (MOCK ? 3 : 18), "every material, and that of the scene");
  await page.selectOption("#material", "denim");
  await wait("material", "denim");
  await page.locator("#wind-heading").fill("90");
  await page.locator("#wind-speed").fill("3");
  await wait("wind", [3, 0, 0]);
  await page.locator("#wind-speed").fill("0");
  await page.locator("#budget").fill("12");
  await wait("budget_ms", 12);
  await page.uncheck("#bend-max-free");
  await page.locator("#bend-max").fill("20");
  await wait("bend_max", 20);
  await page.check("#bend-max-free");
  await wait("bend_max", null);
  await page.uncheck("#stretch-min-free");
  await page.locator("#stretch-min").fill("0.1");
  await wait("stretch_min", -0.1);
  await page.check("#stretch-min-free");
  await wait("stretch_min", null);
  for (const [n, name] of [[2, "edge"], [1, "off"], [3, "isotropic"]] as const) {
    await page.click(`#limiter label:nth-of-type(${n})`);
    await wait("limiter", name);
    const [before, pictures] = [await frame(), await page.evaluate(() => window.__taut!.drawn())];
    await until(page, "20 pictures", (n) => window.__taut!.drawn() > n + 20, pictures);
    assert.ok((await frame()) > before, `limiter ${name}: the sheet flew apart, and the server has started over`);
    const furthest = await page.evaluate(() => Math.max(...window.__taut!.positions(0).map(Math.abs)));
    assert.ok((await strain()) < 20 && furthest < 20, `limiter ${name}: strain ${await strain()}, furthest point at ${furthest} m`);
  }
  for (const [n, fps] of [[2, 60], [1, 30]] as const) {
    await page.click(`#fps label:nth-of-type(${n})`);
    await wait("fps", fps);
  }
  assert.equal(await page.locator("#urgent p").count(), 0, `problems: ${await page.textContent("#urgent")}`);
  await page.click("#as-scene");
  await wait("stiffness", 1);
  await wait("material", null);
  assert.equal(await page.inputValue("#material"), "");
  await framesLater(page, 5);
});

test("pause, step, play and reset", async () => {
  await startOver(page, "soft");
  await page.click("#play");
  await until(page, "the pause", () => !window.__taut!.playing());
  await sleep(400);
  const paused = await frame();
  await sleep(500);
  assert.equal(await frame(), paused, "nothing moves in a pause");
  await page.click("#step");
  await until(page, "one more frame", (n) => window.__taut!.frame() === n + 1, paused);
  await sleep(300);
  assert.equal(await frame(), paused + 1);
  await page.click("#reset");
  await until(page, "the start", () => window.__taut!.frame() === 0);
  const y = await page.evaluate(() => window.__taut!.positions(0).filter((_, k) => k % 3 === 1));
  assert.ok(Math.max(...y.map(Math.abs)) < 1e-4, "flat again");
  await page.locator("#view").focus();
  if (!(await page.evaluate(() => window.__taut!.playing()))) await page.keyboard.press("Space");
  await until(page, "playing", () => window.__taut!.playing());
  await framesLater(page, 30);
});

test("P pins and unpins what is under the pointer", async () => {
  const corner = await freeCorner(page);
  await settled(page, corner);
  const pins = await page.evaluate(() => window.__taut!.pins().length);
  await page.click("#play");
  await until(page, "the pause", () => !window.__taut!.playing());
  await pressAt(page, corner);
  await page.mouse.up();
  await page.keyboard.press("p");
  await until(page, "the pin", (n) => window.__taut!.pins().length === n + 1, pins);
  await page.click("#play");
  const pin = await page.evaluate(() => window.__taut!.pins().at(-1)!.vertex);
  await framesLater(page, 10);
  const first = (await whereIs(page, pin)).at;
  await framesLater(page, 15);
  const later = (await whereIs(page, pin)).at;
  assert.ok(Math.hypot(...first.map((v, k) => v - later[k]!)) < 1e-4, "a pinned vertex stays");
  const where = (await whereIs(page, pin)).screen;
  await page.mouse.move(where.x + 1, where.y + 1);
  await page.keyboard.press("p");
  await until(page, "no pin", (n) => window.__taut!.pins().length === n, pins);
});

test("colourings, edges and levels", async () => {
  for (const [n, name] of [[2, "strain"], [3, "residual"], [4, "hsv"]] as const) {
    await page.click(`#colouring label:nth-of-type(${n})`);
    await until(page, name, (wanted) => window.__taut!.parameters()?.colouring === wanted, name);
    await framesLater(page, 4);
    assert.equal(await page.isVisible("#scale"), true);
    await shot(`colours-${name}`);
  }
  await page.click("#colouring label:nth-of-type(1)");
  await until(page, "fabric", () => window.__taut!.parameters()?.colouring === "none");
  assert.equal(await page.isVisible("#scale"), false);
  await page.click("#wireframe");
  await framesLater(page, 4);
  await shot("edges");
  for (const [n, name] of [[2, "over"], [3, "beside"]] as const) {
    await page.click(`#levels label:nth-of-type(${n})`);
    await page.waitForSelector("#level-legend:not([hidden])");
    assert.match((await page.textContent("#level-legend"))!, /level 1: \d+ vertices/);
    await framesLater(page, 4);
    await shot(`levels-${name}`);
  }
  await page.click("#levels label:nth-of-type(1)");
  await until(page, "levels off", () => window.__taut!.parameters()?.levels_shown === false);
  await page.click("#wireframe");
});

test("help, keys, and holding by keys alone", async () => {
  await page.locator("#view").focus();
  await page.keyboard.press("?");
  await page.waitForSelector("#help[open]");
  await page.keyboard.press("Escape");
  await page.waitForSelector("#help:not([open])", { state: "attached" });
  await page.locator("#view").focus();
  await page.keyboard.press("f");
  const before = await page.evaluate(() => window.__taut!.project([0, 0, 0]));
  await page.keyboard.press("ArrowLeft");
  const turned = await page.evaluate(() => window.__taut!.project([0, 0, 0]));
  assert.ok(Math.hypot(before.x - turned.x, before.y - turned.y) > 3, "arrows turn the view");
  await page.keyboard.press("ArrowRight");
  await framesLater(page, 30);
  // The sheet hangs where the view looks.
  await page.keyboard.press("g");
  await until(page, "a hold", () => window.__taut!.holding());
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("g");
  assert.equal(await page.evaluate(() => window.__taut!.holding()), false);
});

test("exports what is shown, and saves the scene", async () => {
  for (const [format, begins] of [["obj", /^(#|v |o )/m], ["ply", /^ply/], ["toml", /\[/]] as const) {
    if (MOCK && format !== "obj") continue;
    const download = page.waitForEvent("download");
    await page.click(`#export-${format}`);
    const text = readFileSync(await (await download).path(), "latin1");
    assert.match(text, begins, format);
  }
  if (MOCK) return;
  await page.locator("#gravity").fill("5");
  await until(page, "less gravity", () => window.__taut!.parameters()?.gravity === 5);
  await page.click("#save-open");
  await page.fill("#save-name", "kept");
  await page.click("#save-go");
  await page.waitForSelector("text=/Saved as .*kept.toml/");
  const kept = join(server.folder, "kept.toml");
  assert.match(readFileSync(kept, "utf8"), /gravity = \[-?0(\.0)?, -5(\.0)?, /);
  const read = spawnSync(process.env.TAUT!, ["run", kept, "-o", join(server.folder, "out"), "--frames", "2"], { encoding: "utf8" });
  assert.equal(read.status, 0, read.stderr);
  await page.click("#as-scene");
  await until(page, "gravity as it was", () => Math.abs((window.__taut!.parameters()?.gravity ?? 0) - 9.81) < 0.01);
});

test("input latency: the median is below 80 ms", async () => {
  let latency = await dragAndWait();
  if (MOCK || latency < 80) return;
  // Other programs on the machine can only make it longer: they are waited for. The sheet rests meanwhile.
  await page.click("#play");
  await until(page, "the pause", () => !window.__taut!.playing());
  const quiet = await isQuiet();
  for (let round = 0; round < 3 && latency >= 80; round++) latency = Math.min(latency, await dragAndWait());
  assert.ok(!quiet || latency < 80, `median ${latency} ms`);
});

/** Drags a corner for 5 s; gives the median time until a picture shows where the pointer was [ms]. */
async function dragAndWait(): Promise<number> {
  await startOver(page, "hard");
  const corner = await freeCorner(page);
  await settled(page, corner);
  const pressed = await pressAt(page, corner);
  const from = await page.evaluate(() => window.__taut!.latency().length);
  const begun = performance.now();
  while (performance.now() - begun < 5000) {
    const a = (performance.now() - begun) / 400;
    await page.mouse.move(pressed.x + 50 * Math.sin(a), pressed.y - 30 + 30 * Math.cos(a));
    await sleep(12);
  }
  const samples = (await page.evaluate(() => window.__taut!.latency())).slice(from);
  const pictures = await page.evaluate(() => window.__taut!.pictureTimes());
  console.log(`latency: median ${median(samples).toFixed(1)} ms of ${samples.length}; picture ${median(pictures).toFixed(1)} ms at ${await page.evaluate(() => window.__taut!.tier())}`);
  await page.mouse.up();
  assert.ok(samples.length > 10, `${samples.length} samples`);
  return median(samples);
}

test("a corner dragged hard at 2 m/s for 10 s: the limit holds at 30 frames a second", async () => {
  // Limits hold in every round, whatever else the machine does; time is measured again if other programs took some of it.
  let rate = await dragHard();
  if (MOCK || rate > 29.5) return;
  // The sheet rests meanwhile: it would take its share of the machine.
  await page.click("#play");
  await until(page, "the pause", () => !window.__taut!.playing());
  const quiet = await isQuiet();
  rate = await best(29.5, dragHard);
  assert.ok(!quiet || rate > 29.5, `${rate} simulated frames a second`);
});

/** Drags a corner for 10 s and looks at all frames; gives how many were simulated a second. */
async function dragHard(): Promise<number> {
  await startOver(page, "hard");
  const corner = await freeCorner(page);
  await settled(page, corner);
  const pressed = await pressAt(page, corner);
  // Pixels per metre in the plane in which the grip moves.
  const scale = await page.evaluate((k) => {
    const [x, y, z] = window.__taut!.positions(0).slice(3 * k, 3 * k + 3) as [number, number, number];
    const [a, b] = [window.__taut!.project([x, y, z]), window.__taut!.project([x, y + 0.1, z])];
    return 10 * Math.hypot(a.x - b.x, a.y - b.y);
  }, corner);
  const from = await page.evaluate(() => ({ frame: window.__taut!.log().at(-1)!.frame, at: performance.now() }));
  const begun = performance.now();
  const checks: { measured: number; told: number }[] = [];
  while (performance.now() - begun < 10000) {
    const s = (performance.now() - begun) / 1000;
    // An eight of 0.5 m by 0.4 m, 2 m/s on the mean; it leaves the reach of the sheet at the left, the right and below.
    const a = 3.4 * s;
    await page.mouse.move(pressed.x + scale * 0.5 * Math.sin(a), pressed.y + scale * (0.2 * Math.sin(2 * a) - 0.1 * (1 - Math.cos(a))));
    if (Math.floor(s) > checks.length) {
      const now = await page.evaluate(() => {
        const t = window.__taut!;
        const told = t.log().find((entry) => entry.frame === t.frame())!.maxStrain;
        return { told, x: t.positions(0), rest: t.rest(0), corners: t.corners(0) };
      });
      checks.push({ told: now.told, measured: measureStrain(now.x, now.rest, now.corners) });
    }
    await sleep(6);
  }
  const log = (await page.evaluate((f) => window.__taut!.log().filter((entry) => entry.frame > f), from.frame));
  const seconds = (log.at(-1)!.at - log[0]!.at) / 1000;
  await shot("dragged-hard");
  await page.mouse.up();
  const rate = (log.at(-1)!.frame - log[0]!.frame) / seconds;
  const within = log.filter((entry) => entry.maxStrain <= LIMIT + TOLERANCE + 1e-4).length / log.length;
  const worst = Math.max(...log.map((entry) => entry.maxStrain));
  console.log(`dragged hard: ${log.length} frames seen, ${rate.toFixed(1)} simulated a second, ${(100 * within).toFixed(1)} % within, worst ${(100 * worst).toFixed(2)} %, ` +
    `server ${median(log.map((entry) => entry.whole)).toFixed(1)} ms a frame`);
  const bad = log.filter((entry) => entry.maxStrain > LIMIT + TOLERANCE + 1e-4).slice(0, 12);
  for (const { frame: n, maxStrain, iterations, whole } of bad) console.log(`  frame ${n}: ${(100 * maxStrain).toFixed(2)} %, ${iterations} iterations, ${whole.toFixed(1)} ms`);
  if (MOCK) return rate;
  for (const { measured, told } of checks) assert.ok(Math.abs(measured - told) < 2e-3, `the server says ${told}, the positions say ${measured}`);
  assert.ok(checks.length >= 9);
  assert.ok(within >= 0.95, `${within} of the frames are within limit + tolerance`);
  assert.ok(worst <= LIMIT + 0.05, `worst strain ${worst}`);
  return rate;
}

test("ten curtains: 30 simulated frames a second with the page", async () => {
  if (MOCK) return;
  // The sheet of the other tests rests meanwhile: it would take its share of the machine.
  await page.click("#play");
  await until(page, "the pause", () => !window.__taut!.playing());
  const quiet = await isQuiet();
  const curtains = await startServer("curtains", await freePort());
  try {
    const { page: own, faults: wrong } = await openPage(browser, curtains.url, { viewport: { width: 1280, height: 800 }, colorScheme: "light" });
    await sleep(2000);
    const rate = await best(30, async () => {
      const newest = () => own.evaluate(() => ({ frame: window.__taut!.log().at(-1)!.frame, at: performance.now() }));
      const from = await newest();
      await sleep(6000);
      const to = await newest();
      return (1000 * (to.frame - from.frame)) / (to.at - from.at);
    });
    const most = await own.evaluate(() => Math.max(...window.__taut!.log().map((entry) => entry.maxStrain)));
    console.log(`curtains: ${rate.toFixed(1)} simulated a second with the page, largest strain ${(100 * most).toFixed(2)} %`);
    await shot("curtains", own);
    await own.close();
    assert.deepEqual(wrong, []);
    assert.ok(most <= LIMIT + TOLERANCE + 1e-4, `strain ${most}`);
    assert.ok(!quiet || rate >= 30, `${rate} simulated frames a second with the page`);
  } finally {
    await curtains.stop();
    await page.click("#play");
    await until(page, "going on", () => window.__taut!.playing());
  }
});

/** A sheet that tears before it reaches its limit. Its frames take the time that they need: what holds does so on any machine. */
const WEAK = `[scene]
description = "A weak sheet."
gravity = [0.0, -1.0, 0.0]
[solver]
budget_ms = 1000.0
[[cloth]]
name = "sheet"
mesh = { grid = { size = [1.0, 1.0], cells = [8, 8] } }
material = "polyester"
strain = { max = 0.06 }
tear = { stretch = 0.04 }
pin = [{ select = "corner:top-left" }, { select = "corner:top-right" }]
`;

test("a sheet that is pulled at a corner tears, and is whole after a reset", async () => {
  if (MOCK) return;
  const folder = mkdtempSync(join(tmpdir(), "taut-weak-"));
  writeFileSync(join(folder, "weak.toml"), WEAK);
  const weak = await startServer(join(folder, "weak.toml"), await freePort());
  try {
    const { page: own, faults: wrong } = await openPage(browser, weak.url, { viewport: { width: 1280, height: 800 }, colorScheme: "light" });
    const counts = (of = own) =>
      of.evaluate(() => {
        const corners = window.__taut!.corners(0);
        return { vertices: window.__taut!.positions(0).length / 3, triangles: corners.length / 3, used: new Set(corners).size };
      });
    const whole = { vertices: 81, triangles: 128, used: 81 };
    await framesLater(own, 60);
    assert.deepEqual(await counts(), whole, "its own weight does not tear it");
    assert.equal(await own.inputValue("#tear"), "0.04");
    await own.click("#wireframe");
    await own.click("#colouring label:nth-of-type(2)");
    await own.click("#pointer label:has([value=hard])");
    const corner = await freeCorner(own);
    const pressed = await pressAt(own, corner);
    await glide(own, pressed, { x: pressed.x + 350, y: pressed.y + 250 }, 1500);
    await until(own, "a tear", () => window.__taut!.positions(0).length / 3 > 84, undefined, 60000);
    assert.equal(await own.evaluate(() => window.__taut!.holding()), true, "the grip holds on");
    await framesLater(own, 10);
    await shot("torn", own);
    await own.mouse.up();
    const torn = await own.evaluate(() => {
      const t = window.__taut!;
      return { x: t.positions(0), rest: t.rest(0), corners: t.corners(0) };
    });
    const now = await counts();
    assert.ok(now.vertices > 84 && now.used === now.vertices && now.triangles === 128, JSON.stringify(now));
    assert.equal(torn.rest.length, torn.x.length);
    assert.ok(measureStrain(torn.x, torn.rest, torn.corners) <= 0.06 + TOLERANCE + 1e-4, "the limit holds in what is left");
    const log = await own.evaluate(() => window.__taut!.log().map((entry) => entry.maxStrain));
    assert.ok(Math.max(...log) <= 0.06 + TOLERANCE + 1e-4, `strain ${Math.max(...log)}`);

    // A viewer that comes later sees it torn; a file of what is shown has it torn.
    await own.click("#play");
    await until(own, "the pause", () => !window.__taut!.playing());
    await sleep(500);
    const { page: late } = await openPage(browser, weak.url, { colorScheme: "light" });
    assert.deepEqual(await counts(late), await counts());
    await late.close();
    await own.bringToFront();
    const download = own.waitForEvent("download");
    await own.click("#export-obj");
    const file = readFileSync(await (await download).path(), "latin1");
    assert.equal(file.match(/^v /gm)?.length, (await counts()).vertices);

    await own.click("#reset");
    await until(own, "the whole sheet", () => window.__taut!.positions(0).length / 3 === 81);
    assert.deepEqual(await counts(), whole);
    await own.check("#tear-free");
    await until(own, "no threshold", () => window.__taut!.parameters()?.tear === null);
    await own.click("#as-scene");
    await until(own, "the threshold of the scene", () => Math.abs((window.__taut!.parameters()?.tear ?? 0) - 0.04) < 1e-6);
    await own.close();
    assert.deepEqual(wrong, []);
  } finally {
    await weak.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

test("touch: a finger pulls the sheet on a tablet", async () => {
  const { page: tablet, faults: own } = await openPage(browser, server.url, { viewport: { width: 820, height: 1180 }, hasTouch: true, colorScheme: "light" });
  await takeWheel(tablet);
  const corner = await freeCorner(tablet);
  await settled(tablet, corner);
  const cdp = await tablet.context().newCDPSession(tablet);
  const middle = await tablet.evaluate(() => {
    const x = window.__taut!.positions(0);
    const mean = [0, 1, 2].map((c) => x.filter((_, k) => k % 3 === c).reduce((sum, v) => sum + v, 0) / (x.length / 3));
    const near = (k: number) => Math.hypot(...mean.map((v, c) => x[3 * k + c]! - v));
    let best = 0;
    for (let k = 0; k < x.length / 3; k++) if (near(k) < near(best)) best = k;
    return window.__taut!.project(x.slice(3 * best, 3 * best + 3) as [number, number, number]);
  });
  const touch = (type: "touchStart" | "touchMove" | "touchEnd", x = 0, y = 0) =>
    cdp.send("Input.dispatchTouchEvent", { type, touchPoints: type === "touchEnd" ? [] : [{ x, y }] });
  await touch("touchStart", middle.x, middle.y);
  await until(tablet, "a hold", () => window.__taut!.holding());
  for (let k = 1; k <= 10; k++) await touch("touchMove", middle.x + 5 * k, middle.y - 3 * k);
  await framesLater(tablet, 5);
  await shot("tablet-touch", tablet);
  await touch("touchEnd");
  await until(tablet, "letting go", () => !window.__taut!.holding());
  assert.deepEqual(own, []);
  await tablet.close();
  await takeWheel(page);
});

test("a second viewer watches, and may take the wheel", async () => {
  const { page: second } = await openPage(browser, server.url, { colorScheme: "dark" });
  assert.match((await second.textContent("#seat"))!, /Watching/);
  assert.equal(await second.isDisabled("#gravity"), true);
  assert.equal(await second.isDisabled("#play"), true);
  await shot("watching", second);
  await takeWheel(second);
  await page.bringToFront();
  await until(page, "to watch", () => !window.__taut!.driving());
  await second.close();
  await until(page, "the wheel again", () => window.__taut!.driving());
});

test("another scene", async () => {
  await page.click("#scene-open");
  await page.fill("#scene-filter", OTHER);
  await shot("scenes");
  await page.click(`#scene-list button[data-scene="${OTHER}"]`);
  await until(page, "the other scene", (name) => window.__taut!.sceneName() === name && window.__taut!.frame() > 3, OTHER);
  await page.click("#scene-open");
  await page.click('#scene-list button[data-scene="hanging-sheet"]');
  await until(page, "the first scene again", () => window.__taut!.sceneName() === "hanging-sheet" && window.__taut!.frame() > 3);
});

test("reconnects by itself after the server was restarted", async () => {
  await server.stop();
  await until(page, "the loss", () => !window.__taut!.open() && document.querySelector("#link")!.textContent!.includes("Disconnected"));
  assert.equal(await page.isDisabled("#gravity"), true);
  await shot("away");
  await sleep(1500);
  server = await startServer("hanging-sheet", server.port);
  await until(page, "the connection", () => window.__taut!.open(), undefined, 15000);
  await framesLater(page, 5);
  assert.equal(await page.isDisabled("#gravity"), false);
  assert.equal(await page.textContent("#link"), "Connected");
});

test("screenshots on a laptop and a tablet, dark and light, in high quality", async () => {
  for (const colorScheme of ["light", "dark"] as const) {
    for (const [name, viewport] of [["laptop", { width: 1440, height: 900 }], ["tablet", { width: 820, height: 1180 }]] as const) {
      const { page: view, faults: own } = await openPage(browser, server.url, { viewport, colorScheme });
      await takeWheel(view);
      await framesLater(view, 25);
      if (await view.evaluate(() => window.__taut!.playing())) await view.click("#play");
      await until(view, "the pause", () => !window.__taut!.playing());
      const drawn = await view.evaluate(() => window.__taut!.drawn());
      await view.selectOption("#quality", "high");
      await until(view, "a fine picture", (n) => window.__taut!.drawn() > n, drawn);
      await sleep(1500);
      await shot(`${name}-${colorScheme}`, view);
      if (name === "laptop") {
        await view.keyboard.press("?");
        await view.waitForSelector("#help[open]");
        await shot(`help-${colorScheme}`, view);
        await view.keyboard.press("Escape");
      }
      const wide = await view.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
      assert.ok(wide, `${name}: wider than the screen`);
      assert.deepEqual(own, []);
      await view.click("#play");
      await view.close();
    }
  }
});

if (MOCK) {
  test("a server that sends rubbish is told of, and the page goes on", async () => {
    server.mock!.sendRaw(Uint8Array.from([1, 2, 3]));
    server.mock!.sendRaw("{ this is no JSON");
    await page.waitForSelector("#urgent p");
    assert.match((await page.textContent("#urgent"))!, /unreadable message/);
    await framesLater(page, 5);
  });
} else {
  test("a finished run is played with a timeline", async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "taut-replay-"));
    const out = join(folder, "out");
    const made = spawnSync(process.env.TAUT!, ["run", "hanging-sheet", "-o", out, "--frames", "20"], { encoding: "utf8" });
    assert.equal(made.status, 0, made.stderr);
    const replay = await startServer(out, await freePort());
    t.after(() => replay.stop());
    const { page: view, faults: own } = await openPage(browser, replay.url);
    assert.equal(await view.isVisible("#timeline"), true);
    assert.equal(await view.getAttribute("#timeline", "max"), "20");
    if (await view.evaluate(() => window.__taut!.playing())) await view.click("#play");
    await until(view, "the pause", () => !window.__taut!.playing());
    await view.locator("#timeline").fill("12");
    await until(view, "frame 12", () => window.__taut!.frame() === 12);
    await view.locator("#timeline").fill("3");
    await until(view, "frame 3", () => window.__taut!.frame() === 3);
    assert.equal(await view.isDisabled("#gravity"), true);
    await shot("replay", view);
    assert.deepEqual(own, []);
    await view.click("#play");
    await until(view, "the last frame", () => window.__taut!.frame() === 20 && !window.__taut!.playing());
    await until(view, "the timeline there", () => document.querySelector<HTMLInputElement>("#timeline")!.value === "20");
    await view.close();
    rmSync(folder, { recursive: true });
  });
}

test("nothing went wrong in the page all the while", () => assert.deepEqual(faults, []));
