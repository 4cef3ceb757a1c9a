import { describe, expect, it } from "vitest";
import {
  addressOf,
  isFiltered,
  isMisread,
  readQuery,
  statusesOf,
} from "../../../../apps/page/rooms/plan/plan-query.ts";

const paramsOf = (address: string): Record<string, string> =>
  Object.fromEntries(new URL(address, "http://page").searchParams);

describe("the address of the plan", () => {
  it("is the month of today, of all channels, where it says nothing", () => {
    const query = readQuery({});
    expect(query).toEqual({
      view: "month",
      day: null,
      channels: [],
      states: [],
      label: "",
      search: "",
      isUpcoming: true,
      post: null,
    });
    expect(addressOf(query)).toBe("/app/plan");
    expect(isFiltered(query)).toBe(false);
  });

  it("says all that is shown, so that a link shows the same", () => {
    const query = {
      view: "list",
      day: "2026-11-24",
      channels: ["acc_1", "acc_2"],
      states: ["failed", "draft"],
      label: "winter & spring",
      search: "late show",
      isUpcoming: false,
      post: "post_1",
    } as const;
    expect(readQuery(paramsOf(addressOf(query)))).toEqual(query);
    expect(isFiltered(query)).toBe(true);
  });

  it("takes the account alone that another room leads here with", () => {
    expect(readQuery({ account: "acc_1" }).channels).toEqual(["acc_1"]);
  });

  it("leaves out what it does not understand", () => {
    const params = { view: "year", day: "2026-13-40", state: "failed,lost", channel: "a,a", order: "odd" };
    expect(readQuery(params)).toMatchObject({
      view: "month",
      day: null,
      states: ["failed"],
      channels: ["a"],
    });
  });

  it.each([
    [{ day: "2026-99-99", view: "zzz" }, "/app/plan"],
    [{ day: "9999-12-01" }, "/app/plan"],
    [{ day: "2400-12-01", view: "week" }, "/app/plan?view=week"],
    [{ day: "2027-02-31" }, "/app/plan?day=2027-02-01"],
    [{ state: "failed,lost", view: "list" }, "/app/plan?view=list&state=failed"],
  ])("is mended where it says what is not understood: %j", (params, mended) => {
    const query = readQuery(params);
    expect(isMisread(params, query)).toBe(true);
    expect(addressOf(query)).toBe(mended);
    const again = paramsOf(mended);
    expect(isMisread(again, readQuery(again))).toBe(false);
  });

  it("opens a month by its name, and where it has no such day", () => {
    const dayOf = (params: Record<string, string>): string | null => readQuery(params).day;
    expect(dayOf({ day: "2027-01" })).toBe("2027-01-01");
    expect(dayOf({ month: "2027-01" })).toBe("2027-01-01");
    expect(dayOf({ day: "2027-02-31" })).toBe("2027-02-01");
    expect(dayOf({ day: "2028-02-29" })).toBe("2028-02-29");
    expect(dayOf({ day: "2027-1" })).toBeNull();
  });

  it("means by a state all statuses that people call so", () => {
    expect(statusesOf([])).toBeNull();
    expect(statusesOf(["scheduled", "failed"])).toEqual(["scheduled", "publishing", "uploaded", "failed"]);
    expect(statusesOf(["draft"])).toEqual([]);
  });
});
