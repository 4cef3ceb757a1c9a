import { setTimeout as pause } from "node:timers/promises";
import { expect, it } from "vitest";
import { readMeta, setMeta } from "../../../src/store/queries/meta.ts";
import { gate } from "../../support/gate.ts";
import { openPlace } from "./place.ts";

it(
  "a write waits for no lock for ever, says what it met, and goes on after it",
  { timeout: 90_000 },
  async () => {
    await using place = await openPlace();
    await using store = await place.open();
    await using other = await place.open();
    const [isHeld, goOn] = [gate(), gate()];
    const holding = other.write(async (tx) => {
      // A transaction that stands still is ended by some.
      for (let n = 0; ; n += 1) {
        await setMeta(tx, "key held", String(n));
        isHeld.open();
        if (await Promise.race([goOn.opened.then(() => true), pause(1_000, false)])) return;
      }
    });
    await isHeld.opened;
    const error: unknown = await store
      .write((tx) => setMeta(tx, "key held", "mine"))
      .catch((e: unknown) => e);
    expect(error).toMatchObject({
      kind: "unavailable",
      message: expect.stringContaining("Nothing was changed"),
    });
    expect(store.writeTrouble()).toBe(error);
    goOn.open();
    await holding;
    expect(await readMeta(store, "key held")).toMatch(/^\d+$/);
    await store.write((tx) => setMeta(tx, "key held", "mine"));
    expect(store.writeTrouble()).toBeNull();
  },
);
