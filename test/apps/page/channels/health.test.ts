import { describe, expect, it } from "vitest";
import { inOrder, needsPerson, remedyOf, statesOf } from "../../../../apps/page/rooms/channels/health.ts";
import { ACCOUNT_STATUSES, type Account } from "../../../../src/domain/accounts/account.ts";

const NOW = Date.parse("2026-11-25T12:00:00Z");

function account(
  parts: Partial<Account>,
): Pick<Account, "status" | "tokenExpiresAt" | "schedule" | "queuedCount"> {
  return { status: "connected", tokenExpiresAt: null, schedule: null, queuedCount: 0, ...parts };
}

const PAUSED = { timezone: "UTC", slots: [], minGapMinutes: 0, paused: true };

function labels(parts: Partial<Account>): string[] {
  return statesOf(account(parts), NOW).map(({ label }) => label);
}

describe("the state of a channel", () => {
  it("is told in words", () => {
    expect(labels({})).toEqual(["Connected"]);
    expect(labels({ status: "disconnected" })).toEqual(["Disconnected"]);
    expect(labels({ status: "reconnect_required" })).toEqual(["Must be reconnected"]);
    expect(labels({ schedule: PAUSED })).toEqual(["Paused"]);
    expect(labels({ schedule: PAUSED, status: "reconnect_required" })).toEqual([
      "Must be reconnected",
      "Paused",
    ]);
  });

  it.each([
    ["2026-11-30T13:00:00Z", "Expires in 5 days"],
    ["2026-11-26T13:00:00Z", "Expires in 1 day"],
    ["2026-11-25T13:00:00Z", "Expires today"],
    [null, "Expires soon"],
  ])("tells when access ends at %s", (tokenExpiresAt, label) => {
    expect(labels({ status: "expiring", tokenExpiresAt })).toEqual([label]);
  });

  it("comes with a remedy where there is something to do", () => {
    expect(remedyOf(account({}))).toBeNull();
    expect(remedyOf(account({ status: "reconnect_required", queuedCount: 1 }))).toBe(
      "Nothing goes out until it is reconnected. 1 post waits for it.",
    );
    expect(remedyOf(account({ schedule: PAUSED, queuedCount: 1_200 }))).toBe(
      "Nothing goes out until it is resumed. 1,200 posts wait for it.",
    );
  });

  it("puts those first that want a person", () => {
    const order = inOrder(
      ["disconnected", "connected", "expiring", "reconnect_required"].flatMap((status) =>
        ACCOUNT_STATUSES.filter((one) => one === status).map((one) => ({ status: one })),
      ),
    );
    expect(order.map(({ status }) => status)).toEqual([
      "reconnect_required",
      "expiring",
      "connected",
      "disconnected",
    ]);
    expect(order.filter(needsPerson)).toHaveLength(2);
  });
});
