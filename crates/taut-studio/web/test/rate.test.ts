// How fast the simulation is while no page is open: before the browser of the other tests takes its share of the machine.

import assert from "node:assert/strict";
import { test } from "node:test";
import { MOCK, best, freePort, isQuiet, rateWithoutPage, startServer } from "./harness";

test("ten curtains: 60 simulated frames a second without the page", async () => {
  if (MOCK) return;
  const quiet = await isQuiet();
  const curtains = await startServer("curtains", await freePort());
  try {
    const rate = await best(59.9, () => rateWithoutPage(curtains));
    console.log(`curtains: ${rate.toFixed(1)} simulated a second without the page`);
    // It is held back to 60 a second; where the seconds begin and end may cost a part of a frame.
    assert.ok(!quiet || rate >= 59.9, `${rate} simulated frames a second`);
  } finally {
    await curtains.stop();
  }
});
