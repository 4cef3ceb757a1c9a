import { DAY } from "../../../domain/time.ts";
import type { PlatformAnalytics } from "../../../ports/platform.ts";
import type { PlatformIo } from "../../../ports/platform-io.ts";
import { sumByDay, uncounted, type CountedPost } from "../posts/day-sums.ts";
import { own } from "./api.ts";
import { Account } from "./entities.ts";
import { listStatuses } from "./find.ts";
import { countOf } from "./live.ts";

/** Followers as they are now, and the reactions so far to the posts of the range, by the day of the post. */
export async function analytics(
  range: { from: string; to: string },
  io: PlatformIo,
): Promise<PlatformAnalytics> {
  const account = await own(io, { method: "GET", path: "/api/v1/accounts/verify_credentials" }, Account);
  const posts = countedSince(io, Date.parse(range.from) - DAY);
  const { totals, days } = await sumByDay(posts, range, ["likes", "comments", "shares"]);
  return {
    totals: {
      ...(account.followers_count === undefined ? {} : { followers: account.followers_count }),
      ...totals,
    },
    days,
    unavailable: uncounted("The server", ["views", "impressions", "reach", "saves", "clicks"]),
  };
}

async function* countedSince(io: PlatformIo, since: number): AsyncGenerator<CountedPost> {
  for await (const status of listStatuses(io, since))
    yield { date: status.created_at.slice(0, 10), counts: countOf(status) };
}
