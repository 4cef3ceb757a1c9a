import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { createConnectIo } from "../../../src/channels/platform-io/connect-io.ts";
import { createTestContext } from "../../support/context.ts";
import { scriptedPlatform } from "../../support/scripted-platform.ts";

/* How far our clock is ahead of a platform's, as its answers tell. FakeClock stands at 09:00. */
it.each([
  ["Sat, 21 Nov 2026 08:53:00 GMT", {}, 7 * 60_000],
  ["Sat, 21 Nov 2026 08:50:00 GMT", { age: "600" }, 0],
  ["Sat, 21 Nov 2026 09:02:00 GMT", {}, -2 * 60_000],
  ["soon", {}, 0],
  ["Thu, 01 Jan 1970 00:00:00 GMT", {}, 0],
  ["Sat, 21 Nov 2026 08:53:00 GMT", { age: "-1e300" }, 0],
])("%s with %j", async (date, more, aheadMs) => {
  const url = "https://platform.example/";
  const request = async () => ({ status: 200, headers: { date, ...more }, url, body: Readable.from(["{}"]) });
  const publish = async () => ({ state: "live", platformPostId: "1", platformUrl: null }) as const;
  await using ctx = await createTestContext({
    platformList: [scriptedPlatform({ publish })],
    outbound: { request, assertAllowed: () => new URL(url) },
    feed: {} as never,
  });
  const io = await createConnectIo(
    ctx,
    { provider: "scripted", ownerId: "default" },
    new AbortController().signal,
  );
  expect(io.aheadMs()).toBe(0);
  await io.request({ method: "GET", url });
  expect(io.aheadMs()).toBe(aheadMs);
});
