import type { Finding } from "../../cli/host.ts";
import { localCaller } from "../../cli/local-caller.ts";
import type { Context } from "../compose.ts";
import { plainCall } from "../../services/context.ts";
import type { Status } from "../../domain/health/status.ts";
import { getStatus, readSetupProblems } from "../../services/health/status.ts";
import { listWebhooks } from "../../services/webhooks/webhooks.ts";

/** Whether posts of the default owner go out, on time, and whether anybody hears of it. */
export async function examinePublishing(ctx: Context): Promise<Finding[]> {
  const call = plainCall(ctx, localCaller());
  const status = await getStatus(call);
  const { webhooks } = await listWebhooks(call, { limit: 1 });
  const silent = webhooks.filter((webhook) => webhook.status !== "active");
  return [
    examinePublisher(status),
    examinePosts(status),
    ...status.accountsToReconnect.map((account): Finding => {
      const waiting = account.queuedCount === 1 ? "1 post waits" : `${account.queuedCount} posts wait`;
      return {
        topic: "channel",
        verdict: account.status !== "expiring" && account.queuedCount > 0 ? "problem" : "note",
        text: `"${account.name}" on ${account.provider}: ${account.reason ?? "It must be reconnected."} ${waiting} for it. Reconnect it with: posthorn connect ${account.provider}`,
      };
    }),
    ...(await readSetupProblems(ctx, ctx.clock.now())).map(({ provider, reason, at }): Finding => {
      return { topic: provider, verdict: "problem", text: `${reason} A post last met with this at ${at}.` };
    }),
    ...silent.map((webhook): Finding => {
      const state = webhook.status === "disabled" ? "is turned off" : "does not get its events";
      return {
        topic: "webhook",
        verdict: "note",
        text: `${webhook.url} ${state}: ${webhook.statusReason ?? ""} Send it a test with: posthorn call test_webhook '{"id":"${webhook.id}"}'`,
      };
    }),
  ];
}

function examinePublisher({ publisher, counts, nextDueAt }: Status): Finding {
  const waiting = `${counts.scheduled} waiting${nextDueAt === null ? "" : `, the next at ${nextDueAt}`}`;
  if (publisher.running) {
    const processes =
      publisher.workers === 1 ? "1 process publishes" : `${publisher.workers} processes publish`;
    return {
      topic: "publisher",
      verdict: "ok",
      text: `${processes}, last heard of at ${publisher.heartbeatAt ?? ""}. ${waiting}`,
    };
  }
  const silence =
    publisher.heartbeatAt === null ? "" : `, the last one was heard of at ${publisher.heartbeatAt}`;
  return {
    topic: "publisher",
    verdict: "note",
    text: `none runs${silence}. Nothing goes out until "posthorn serve" or an MCP client starts one. ${waiting}`,
  };
}

function examinePosts({ counts, lateness, lastFailures }: Status): Finding {
  const troubles = [
    ...(counts.overdue === 0 ? [] : [`${counts.overdue} should be live and are not`]),
    ...(counts.unknownOutcome === 0
      ? []
      : [
          `${counts.unknownOutcome} may have gone out or not (look on the platform, then settle each with posthorn call resolve_post)`,
        ]),
    ...(counts.failed === 0 ? [] : [`${counts.failed} failed in the last 7 days`]),
  ];
  const late =
    lateness.p50Ms === null
      ? "none went out in the last 7 days"
      : describeLateness(lateness.p50Ms, lateness.maxMs ?? 0);
  const [last] = lastFailures;
  const why =
    last === undefined ? "" : ` The last to fail, ${last.id}: ${last.error ?? "no reason is known."}`;
  if (troubles.length === 0) return { topic: "posts", verdict: "ok", text: late };
  return {
    topic: "posts",
    verdict: counts.overdue > 0 ? "problem" : "note",
    text: `${troubles.join(", ")}.${why} Apart from that, ${late}.`,
  };
}

function describeLateness(medianMs: number, maxMs: number): string {
  const all = `what went out in the last 7 days was live within ${maxMs} ms of its time`;
  return medianMs === maxMs ? all : `${all}, half of it within ${medianMs} ms`;
}
