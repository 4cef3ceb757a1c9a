import { expect, it } from "vitest";
import { actionOf } from "../../../../apps/page/rooms/review/deciding.ts";

it("knows which key means what, and leaves those of others alone", () => {
  const key = { key: "a", ctrlKey: false, metaKey: false, altKey: false, repeat: false };
  expect(actionOf(key, false)).toBe("approve");
  expect(actionOf({ ...key, key: "A" }, false)).toBe("approve");
  expect(actionOf({ ...key, key: "ArrowRight", repeat: true }, false)).toBe("next");
  expect(actionOf(key, true)).toBe(null);
  expect(actionOf({ ...key, repeat: true }, false)).toBe(null);
  expect(actionOf({ ...key, ctrlKey: true }, false)).toBe(null);
  expect(actionOf({ ...key, key: "ArrowDown" }, false)).toBe(null);
});
