import { describe, expect, it } from "vitest";
import { decodeCursor, encodeCursor } from "../../src/domain/cursor.ts";

describe("cursor", () => {
  const filters = { status: ["failed"], search: "sommer" };

  it("gives back the position it was made with", () => {
    const cursor = encodeCursor("1846837473280000000", filters);
    expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(decodeCursor(cursor, { status: ["failed"], search: "sommer" })).toBe("1846837473280000000");
  });

  it("belongs to its filters", () => {
    const cursor = encodeCursor("42", filters);
    expect(() => decodeCursor(cursor, { ...filters, search: "winter" })).toThrow(
      /^cursor: belongs to other filters\./,
    );
  });

  it.each(["", "x", "!!!", "bm90IG91cnM", encodeCursor("", {})])("refuses %j, which is not valid", (text) => {
    expect(() => decodeCursor(text, {})).toThrow(/^cursor: is not valid\./);
  });
});
