import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";

/**
 * The first revision whose clients answer questions with a call of its own, instead of a request from the
 * server.
 */
const FIRST_STATELESS = "2026-07-28";

export function isStateless(server: Server): boolean {
  return (server.getNegotiatedProtocolVersion() ?? "") >= FIRST_STATELESS;
}

/**
 * What the client said it can do: stateless ones say it with each request, the others when they open their
 * session.
 */
export function abilitiesOf(server: Server, { mcpReq }: ServerContext): ClientCapabilities {
  if (!isStateless(server)) return server.getClientCapabilities() ?? {};
  // The SDK's published type of that part is empty.
  const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {};
  return (envelope[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined) ?? {};
}

/** Before there were kinds of questions, a client that took any took forms. */
export function canShowForms({ elicitation }: ClientCapabilities): boolean {
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}
