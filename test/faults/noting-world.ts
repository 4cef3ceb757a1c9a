import { newId } from "../../src/domain/ids.ts";
import { HOUR } from "../../src/domain/time.ts";
import type { AnyPlatform } from "../../src/ports/platform.ts";
import { FakeClock } from "../support/clock.ts";
import { createTestContext, type TestContext } from "../support/context.ts";
import { scriptedPlatform } from "../support/scripted-platform.ts";

export interface Sent {
  readonly id: string;
  readonly accountId: string;
  readonly at: number;
  readonly scheduledAt: number;
}

/** A platform that notes by the publisher's own clock when it was asked to publish. */
function notingPlatform(sent: Sent[]): AnyPlatform {
  return scriptedPlatform({
    publish: async (post, io) => {
      await io.effect({
        step: "create",
        request: null,
        send: async () => {
          sent.push({ id: post.id, accountId: io.account.id, at: io.now(), scheduledAt: post.scheduledAt });
          return null;
        },
        reconcile: async () => ({ outcome: "unknown", reason: "never asked" }),
      });
      return { state: "live", platformPostId: post.id, platformUrl: null };
    },
  });
}

/** A publisher over a database in memory, with one hour of lateness allowed. */
export async function createWorld(
  clock = new FakeClock(),
  timezone = "UTC",
): Promise<TestContext & { sent: Sent[] }> {
  const sent: Sent[] = [];
  const ctx = await createTestContext({
    clock,
    platformList: [notingPlatform(sent)],
    media: { forPost: () => ({}) as never, release: async () => {} },
    settings: { timezone, maxLatenessMs: HOUR, uploadFolders: [], platformSettings: {} },
    workerId: newId("wrk"),
  });
  return { ...ctx, sent };
}

export const early = (sent: readonly Sent[]): Sent[] =>
  sent.filter(({ at, scheduledAt }) => at < scheduledAt);
