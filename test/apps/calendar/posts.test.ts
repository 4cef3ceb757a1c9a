import { expect, it } from "vitest";
import { pressingFirst, readCalendar } from "../../../apps/features/calendar/posts.ts";

const STATUSES = [
  "published",
  "cancelled",
  "scheduled",
  "failed",
  "publishing",
  "published",
  "uploaded",
  "scheduled",
];

const calendar = readCalendar({
  posts: STATUSES.map((status, at) => ({
    id: `${status}${at}`,
    accountId: "acc_1",
    status,
    scheduledAt: `2026-11-27T0${at}:00:00Z`,
  })),
  drafts: [
    {
      id: "draft",
      state: "waiting",
      revision: 1,
      scheduledAt: "2026-11-27T09:00:00Z",
      targets: [{ accountId: "acc_1" }],
    },
  ],
  from: "2026-11-01T00:00:00Z",
  to: "2026-11-30T00:00:00Z",
  timezone: "UTC",
});

it("shows first what a person has to do, then what is under way and coming, then what is over", () => {
  if (calendar === null) throw new Error("It is one.");
  const order = pressingFirst(calendar).map(({ id }) => id);
  expect(order).toEqual([
    "failed3",
    "draft",
    "publishing4",
    "uploaded6",
    "scheduled2",
    "scheduled7",
    "published0",
    "published5",
    "cancelled1",
  ]);
  expect(pressingFirst(calendar, "scheduled7")[0]?.id).toBe("scheduled7");
});
