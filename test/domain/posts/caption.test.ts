import { expect, it } from "vitest";
import { measureText } from "../../../src/domain/posts/caption.ts";

it("counts graphemes of any text alike, however it is cut into pieces", () => {
  const cluster = ["👩‍👩‍👧", "🇩🇪", "e\u0301", "x", "\r\n", "日"].join("");
  for (const shift of [0, 1, 2, 3, 5]) {
    const text = "y".repeat(shift) + cluster.repeat(400);
    expect(measureText(text, "graphemes")).toBe(shift + 6 * 400);
  }
  expect(measureText("", "graphemes")).toBe(0);
  expect(measureText(`e${"\u0301".repeat(5_000)}x`, "graphemes")).toBe(2);
});

it("counts a long text without taking its length squared", () => {
  expect(measureText("x".repeat(400_000), "graphemes")).toBe(400_000);
});
