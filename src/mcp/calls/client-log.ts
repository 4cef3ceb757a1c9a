import type { LoggingLevel, Server, ServerContext } from "@modelcontextprotocol/server";
import { isStateless } from "./client-abilities.ts";

/** What is told at all. */
const LEVEL = "info";

/** From here on a client wants less than that. */
const HIGHER: readonly LoggingLevel[] = ["notice", "warning", "error", "critical", "alert", "emergency"];

/**
 * What a client is told beside its answers, if it asked for it: the SDK would also tell those that never
 * named a level.
 */
export class ClientLog {
  readonly #server: Server;
  #level: LoggingLevel | null = null;

  constructor(server: Server) {
    this.#server = server;
    server.setRequestHandler("logging/setLevel", ({ params }) => {
      this.#level = params.level;
      return {};
    });
  }

  async write({ mcpReq }: ServerContext, text: string, logger: string): Promise<void> {
    // Stateless clients name a level with each request; the SDK looks at it.
    if (isStateless(this.#server)) return mcpReq.log(LEVEL, text, logger);
    if (this.#level === null || HIGHER.includes(this.#level)) return;
    await mcpReq.notify({ method: "notifications/message", params: { level: LEVEL, logger, data: text } });
  }
}
