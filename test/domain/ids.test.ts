import { expect, it } from "vitest";
import { ID_PREFIXES, newId } from "../../src/domain/ids.ts";

it("gives every kind its prefix, and ids that are made later sort later", () => {
  for (const prefix of ID_PREFIXES) {
    const ids = Array.from({ length: 1_000 }, () => newId(prefix));
    expect(ids[0]).toMatch(new RegExp(`^${prefix}_[0-9a-z]{26}$`));
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  }
});
