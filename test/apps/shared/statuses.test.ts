import { describe, expect, it } from "vitest";
import { standingOf, nextTryOf } from "../../../apps/shared/statuses.ts";
import { pastReason } from "../../../apps/page/post/post-facts.ts";

const NOW = Date.parse("2026-11-27T12:00:00Z");
const MINUTE = 60_000;

describe("where a post stands, for people", () => {
  it.each([
    ["scheduled", NOW + MINUTE, null, "Scheduled"],
    ["scheduled", NOW - MINUTE, null, "Scheduled"],
    ["scheduled", NOW - 2 * MINUTE, "The channel did not answer.", "Late"],
    ["publishing", NOW - 2 * MINUTE, null, "Publishing"],
    ["cancelled", NOW - 2 * MINUTE, null, "Cancelled"],
    ["cancelled", NOW - 2 * MINUTE, "Too long.", "Dismissed"],
  ] as const)("%s at %d with the error %j is called %4$s", (status, scheduledAt, error, label) => {
    expect(standingOf({ status, scheduledAt, error }, NOW).label).toBe(label);
  });

  it("waits for its channel where that is paused, and only while it waits", () => {
    const label = (status: "scheduled" | "publishing", scheduledAt: number): string =>
      standingOf({ status, scheduledAt, error: null }, NOW, true).label;
    expect(label("scheduled", NOW + MINUTE)).toBe("Paused");
    expect(label("scheduled", NOW - 2 * MINUTE)).toBe("Late, paused");
    expect(label("publishing", NOW)).toBe("Publishing");
  });

  it("reads when it is tried next from its reason", () => {
    const at = Date.parse("2026-11-27T12:40:00Z");
    const next = (error: string | null): number | null => nextTryOf({ error });
    expect(next("No answer. It is tried again on Friday 27 November 2026, 12:40 (UTC).")).toBe(at);
    expect(next("The next try is on Friday 27 November 2026, 13:40 (Europe/Berlin).")).toBe(at);
    expect(next("No answer.")).toBe(null);
    expect(next(null)).toBe(null);
  });

  it("asks nothing of a person for what is dismissed", () => {
    expect(pastReason({ error: "The server refused it. Change the post, then send it again." })).toBe(
      "The server refused it.",
    );
  });
});
