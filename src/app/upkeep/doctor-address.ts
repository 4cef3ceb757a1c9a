import type { Finding } from "../../cli/host.ts";
import type { Catalog } from "../catalog.ts";
import { CLOCK_TOLERANCE_MS, type Context } from "../compose.ts";
import type { Config } from "../config.ts";
import { explainTakenPort } from "../start/taken-port.ts";
import { AppError } from "../../domain/errors.ts";
import { MINUTE, SECOND, toIso } from "../../domain/time.ts";
import { assertFreePort } from "../../http/server.ts";
import { readServerUrl } from "../../services/health/running-server.ts";

/** Clocks that differ by more publish at times nobody meant. */
const MAX_CLOCK_ERROR_MS = MINUTE;

/** Whether a server could listen where the settings say, or one of this data folder does already. */
export async function examinePort(ctx: Context, config: Config): Promise<Finding[]> {
  const topic = "port";
  const running = await readServerUrl(ctx);
  if (running !== null) return [{ topic, verdict: "ok", text: `a server runs at ${running}` }];
  if (config.port === 0) return [];
  try {
    await assertFreePort(config);
    return [{ topic, verdict: "ok", text: `${config.port} on ${config.host} is free` }];
  } catch (error) {
    const told = await explainTakenPort(error, ctx, config);
    if (!(told instanceof AppError)) throw told;
    // Agents' sessions take any other port.
    return [{ topic, verdict: "note", text: `posthorn serve would not start. ${told.message}` }];
  }
}

const LOOPBACK = /^(127\.|::1$|localhost$)/;

async function describeReach(ctx: Context, { host }: Config): Promise<string> {
  const url = await ctx.publicUrl();
  return LOOPBACK.test(host)
    ? `only this machine reaches ${url}`
    : `it listens on ${host} for other machines, too, but the addresses it gives begin with ${url}, which only this machine reaches`;
}

/** Whether others reach this server, and whether its clock and ours agree. */
export async function examineAddress(ctx: Context, config: Config, catalog: Catalog): Promise<Finding[]> {
  const now = ctx.clock.now();
  if (config.publicUrl === null) {
    const fetching = catalog.platforms
      .filter(({ capabilities }) => capabilities.fetchesMedia.length > 0)
      .map(({ title }) => title);
    const who =
      fetching.length === 0
        ? "No platform needs more."
        : `Posts with media need it, or a bucket (POSTHORN_S3_…), on: ${fetching.join(", ")}.`;
    return [
      ...describeClock(now, config),
      {
        topic: "public address",
        verdict: "note",
        text: `${await describeReach(ctx, config)}. Set POSTHORN_PUBLIC_URL to change that. ${who}`,
      },
    ];
  }
  const address = `${config.publicUrl}/healthz`;
  try {
    const response = await ctx.outbound.request({
      method: "GET",
      url: address,
      timeoutMs: 10 * SECOND,
      maxRedirects: 0,
    });
    response.body.resume();
    const isUp = response.status === 200;
    return [
      compareClocks(now, Date.parse(response.headers["date"] ?? "")),
      {
        topic: "public address",
        verdict: isUp ? "ok" : "problem",
        text: isUp
          ? `${address} answers`
          : `${address} answers with status ${response.status}. Check the reverse proxy in front of Posthorn.`,
      },
    ];
  } catch (error) {
    const reason = error instanceof Error ? error.message : "";
    return [
      ...describeClock(now, config),
      {
        topic: "public address",
        verdict: "problem",
        text: `${address} does not answer. Is "posthorn serve" running, and does the name lead to it? (${reason})`,
      },
    ];
  }
}

/** By how much this machine's clock is ahead of the database's, where that is on a server. */
export function examineMachineClock(byMs: number): Finding {
  const topic = "clock";
  if (Math.abs(byMs) <= CLOCK_TOLERANCE_MS)
    return { topic, verdict: "ok", text: "this machine's agrees with PostgreSQL's, which Posthorn goes by" };
  const text = `this machine's is ${Math.abs(Math.round(byMs / SECOND))} seconds ${byMs > 0 ? "ahead of" : "behind"} PostgreSQL's, which Posthorn goes by. Set it (NTP), or the times in its log are wrong.`;
  return { topic, verdict: "note", text };
}

/** Nothing else to compare with; where the database is on a server, that was told. */
function describeClock(now: number, { database }: Config): Finding[] {
  const text = `${toIso(now)}. There was no other clock to compare it with`;
  return database === null ? [{ topic: "clock", verdict: "ok", text }] : [];
}

function compareClocks(own: number, other: number): Finding {
  const isComparable = Number.isFinite(other);
  const difference = Math.abs(own - other);
  if (!isComparable || difference <= MAX_CLOCK_ERROR_MS) {
    return {
      topic: "clock",
      verdict: "ok",
      text: isComparable ? `${toIso(own)}, as the public address says too` : toIso(own),
    };
  }
  return {
    topic: "clock",
    verdict: "problem",
    text: `${toIso(own)}, but the public address says ${toIso(other)}. Set the clock (NTP), or posts go out at the wrong time.`,
  };
}
