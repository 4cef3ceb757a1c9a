import type { Catalog } from "../app/catalog.ts";
import { CLOCK_TOLERANCE_MS, type Context } from "../app/compose.ts";
import type { Config } from "../app/config.ts";
import { AppError } from "../domain/errors.ts";
import { MINUTE, SECOND, toIso } from "../domain/time.ts";
import { assertFreePort } from "../http/server.ts";
import { readServerUrl } from "../health/running-server.ts";
import { note, ok, problem } from "./finding.ts";
import type { Finding } from "./reports.ts";

/** Clocks that differ by more publish at times that were not meant. */
const MAX_CLOCK_ERROR_MS = MINUTE;

const PUBLIC = "public address";
const LOOPBACK = /^(127\.|::1$|localhost$)/;

/** Whether a server could listen where the settings say, or one of this data folder does already. */
export async function examinePort(ctx: Context, config: Config): Promise<Finding[]> {
  const running = await readServerUrl(ctx);
  if (running !== null) return [ok("port", `a server runs at ${running}`)];
  if (config.port === 0) return [];
  try {
    await assertFreePort(config);
    return [ok("port", `${config.port} on ${config.host} is free`)];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    // Agents' sessions take any other port.
    return [note("port", `posthorn serve would not start. ${error.message}`)];
  }
}

/** Whether others reach this server, and whether its clock and ours agree. */
export async function examineAddress(ctx: Context, config: Config, catalog: Catalog): Promise<Finding[]> {
  const now = ctx.clock.now();
  if (config.publicUrl === null)
    return [...describeClock(now, config), await describeLocal(ctx, config, catalog)];
  const address = `${config.publicUrl}/healthz`;
  try {
    const { status, headers, body } = await ctx.outbound.request({
      method: "GET",
      url: address,
      timeoutMs: 10 * SECOND,
      maxRedirects: 0,
    });
    body.resume();
    return [
      compareClocks(now, Date.parse(headers["date"] ?? "")),
      status === 200
        ? ok(PUBLIC, `${address} answers`)
        : problem(
            PUBLIC,
            `${address} answers with status ${status}. Check the reverse proxy in front of Posthorn.`,
          ),
    ];
  } catch (error) {
    const reason = error instanceof Error ? error.message : "";
    const text = `${address} does not answer. Is "posthorn serve" running, and does the name lead to it? (${reason})`;
    return [...describeClock(now, config), problem(PUBLIC, text)];
  }
}

async function describeLocal(ctx: Context, { host }: Config, { platforms }: Catalog): Promise<Finding> {
  const url = await ctx.publicUrl();
  const reach = LOOPBACK.test(host)
    ? `only this machine reaches ${url}`
    : `it listens on ${host} for other machines, too, but the addresses it gives begin with ${url}, which only this machine reaches`;
  const fetching = platforms.filter(({ capabilities }) => capabilities.fetchesMedia.length > 0);
  const who =
    fetching.length === 0
      ? "No platform needs more."
      : `Posts with media need it, or a bucket (POSTHORN_S3_…), on: ${fetching.map(({ title }) => title).join(", ")}.`;
  return note(PUBLIC, `${reach}. Set POSTHORN_PUBLIC_URL to change that. ${who}`);
}

/** By how much this machine's clock is ahead of the database's, where that is on a server. */
export function examineMachineClock(byMs: number): Finding {
  if (Math.abs(byMs) <= CLOCK_TOLERANCE_MS)
    return ok("clock", "this machine's agrees with PostgreSQL's, which Posthorn goes by");
  const by = `${Math.abs(Math.round(byMs / SECOND))} seconds ${byMs > 0 ? "ahead of" : "behind"}`;
  return note(
    "clock",
    `this machine's is ${by} PostgreSQL's, which Posthorn goes by. Set it (NTP), or the times in its log are wrong.`,
  );
}

/** Nothing else to compare with; where the database is on a server, that was told. */
function describeClock(now: number, { database }: Config): Finding[] {
  return database === null ? [ok("clock", `${toIso(now)}. There was no other clock to compare it with`)] : [];
}

function compareClocks(own: number, other: number): Finding {
  if (!Number.isFinite(other)) return ok("clock", toIso(own));
  if (Math.abs(own - other) <= MAX_CLOCK_ERROR_MS)
    return ok("clock", `${toIso(own)}, as the public address says too`);
  return problem(
    "clock",
    `${toIso(own)}, but the public address says ${toIso(other)}. Set the clock (NTP), or posts go out at the wrong time.`,
  );
}
