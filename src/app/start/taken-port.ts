import { text } from "node:stream/consumers";
import { AppError, codeOf } from "../../domain/errors.ts";
import { SECOND } from "../../domain/time.ts";
import { createOutbound } from "../../media/outbound/outbound.ts";
import type { AppContext } from "../../services/context.ts";
import { readServerUrl } from "../../services/health/running-server.ts";
import { VERSION } from "../version.ts";

interface Listening {
  readonly host: string;
  readonly port: number;
}

/** The error, or a better one where the port is taken by Posthorn itself. */
export async function explainTakenPort(error: unknown, ctx: AppContext, at: Listening): Promise<unknown> {
  if (!(error instanceof AppError) || codeOf(error.cause) !== "EADDRINUSE") return error;
  if (!(await isPosthorn(at))) return error;
  const own = await readServerUrl(ctx);
  const who =
    own === null
      ? "by a Posthorn that seems to work on another data folder. Stop that one, or set POSTHORN_PORT to a free port."
      : `by Posthorn: it serves this data folder already, at ${own}. Use that one, or stop it first.`;
  return new AppError("unavailable", `Port ${at.port} on ${at.host} is taken ${who}`, { cause: error.cause });
}

/** Whether what listens there answers as our own page of health does. */
async function isPosthorn({ host, port }: Listening): Promise<boolean> {
  const reached = ["0.0.0.0", "::"].includes(host) ? "localhost" : host;
  const origin = `http://${reached.includes(":") ? `[${reached}]` : reached}:${port}`;
  await using door = createOutbound({ allowedHosts: [], userAgent: `Posthorn/${VERSION}` });
  try {
    const answer = await door.request({
      method: "GET",
      url: `${origin}/healthz`,
      mayBePrivate: true,
      timeoutMs: 2 * SECOND,
    });
    // Others say that they are well, too; each of our answers has a name.
    return (await text(answer.body)) === '{"status":"ok"}' && "x-request-id" in answer.headers;
  } catch {
    return false;
  }
}
