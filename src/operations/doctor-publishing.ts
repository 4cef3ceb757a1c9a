import { localCaller } from "../access/local-caller.ts";
import type { Context } from "../app/compose.ts";
import { plainCall } from "../context.ts";
import type { Status } from "../domain/health/status.ts";
import { getStatus, readSetupProblems } from "../health/status.ts";
import { listWebhooks } from "../webhooks/webhooks.ts";
import { note, ok, problem } from "./finding.ts";
import type { Finding } from "./reports.ts";

/** Whether posts of the default owner go out, on time, and whether anybody hears of it. */
export async function examinePublishing(ctx: Context): Promise<Finding[]> {
  const call = plainCall(ctx, localCaller());
  const status = await getStatus(call);
  const { webhooks } = await listWebhooks(call, { limit: 1 });
  return [
    examinePublisher(status),
    examinePosts(status),
    ...status.accountsToReconnect.map((account) => {
      const waiting = account.queuedCount === 1 ? "1 post waits" : `${account.queuedCount} posts wait`;
      const isBroken = account.status !== "expiring" && account.queuedCount > 0;
      return (isBroken ? problem : note)(
        "channel",
        `"${account.name}" on ${account.provider}: ${account.reason ?? "It must be reconnected."} ${waiting} for it. Reconnect it with: posthorn connect ${account.provider}`,
      );
    }),
    ...(await readSetupProblems(ctx, ctx.clock.now())).map(({ provider, reason, at }) =>
      problem(provider, `${reason} A post last met with this at ${at}.`),
    ),
    ...webhooks
      .filter(({ status }) => status !== "active")
      .map(({ id, url, status, statusReason }) => {
        const state = status === "disabled" ? "is turned off" : "does not get its events";
        const how = `Send it a test with: posthorn call test_webhook '{"id":"${id}"}'`;
        return note("webhook", `${url} ${state}: ${statusReason ?? ""} ${how}`);
      }),
  ];
}

function examinePublisher({ publisher, counts, nextDueAt }: Status): Finding {
  const { running, workers, heartbeatAt } = publisher;
  const waiting = `${counts.scheduled} waiting${nextDueAt === null ? "" : `, the next at ${nextDueAt}`}`;
  if (running) {
    const processes = workers === 1 ? "1 process publishes" : `${workers} processes publish`;
    return ok("publisher", `${processes}, last heard of at ${heartbeatAt ?? ""}. ${waiting}`);
  }
  const silence = heartbeatAt === null ? "" : `, the last one was heard of at ${heartbeatAt}`;
  return note(
    "publisher",
    `none runs${silence}. Nothing goes out until "posthorn serve" or an MCP client starts one. ${waiting}`,
  );
}

function examinePosts({ counts, lateness, lastFailures }: Status): Finding {
  const troubles = [
    [counts.overdue, "should be live and are not"],
    [
      counts.unknownOutcome,
      "may have gone out or not (look on the platform, then settle each with posthorn call resolve_post)",
    ],
    [counts.failed, "failed in the last 7 days"],
  ].flatMap(([count, what]) => (count === 0 ? [] : `${count} ${what}`));
  const late = describeLateness(lateness);
  if (troubles.length === 0) return ok("posts", late);
  const [last] = lastFailures;
  const why =
    last === undefined ? "" : ` The last to fail, ${last.id}: ${last.error ?? "no reason is known."}`;
  const tell = counts.overdue > 0 ? problem : note;
  return tell("posts", `${troubles.join(", ")}.${why} Apart from that, ${late}.`);
}

function describeLateness({ p50Ms, maxMs }: Status["lateness"]): string {
  if (p50Ms === null) return "none went out in the last 7 days";
  const all = `what went out in the last 7 days was live within ${maxMs ?? 0} ms of its time`;
  return p50Ms === maxMs ? all : `${all}, half of it within ${p50Ms} ms`;
}
