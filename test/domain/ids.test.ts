import { afterEach, expect, it, vi } from "vitest";
import { beginningOfId, ID_PREFIXES, newId } from "../../src/domain/ids.ts";

afterEach(() => void vi.useRealTimers());

it("gives every kind its prefix, and ids that are made later sort later", () => {
  for (const prefix of ID_PREFIXES) {
    const ids = Array.from({ length: 1_000 }, () => newId(prefix));
    expect(ids[0]).toMatch(new RegExp(`^${prefix}_[0-9a-z]{26}$`));
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  }
});

it("begins ids that statements complete so that they sort among the others", () => {
  vi.useFakeTimers({ now: Date.now() + 60_000 });
  const completed = (): string => `${beginningOfId("att")}${"8".repeat(16)}`;
  const ids: string[] = [];
  for (const make of [completed, () => newId("att"), completed, completed]) {
    ids.push(make());
    vi.advanceTimersByTime(1);
  }
  expect(ids.toSorted()).toEqual(ids);
  for (const id of ids) expect(id).toMatch(/^att_[0-9a-z]{26}$/);
});
