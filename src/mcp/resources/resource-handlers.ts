import {
  type ListResourcesResult,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
  type ResourceTemplateType,
  type Server,
} from "@modelcontextprotocol/server";
import type { Caller } from "../../domain/permissions.ts";
import { SECOND } from "../../domain/time.ts";
import { quote } from "../../domain/text/plain-text.ts";
import { matchAddress, type McpDeps, type ResourceKind, type Scope, variableOf } from "../kinds.ts";
import { isOffered, orProtocolError } from "../look-up.ts";
import { RESOURCES } from "./resources.ts";
import { AppError } from "../../domain/errors.ts";

interface Shelf extends Scope {
  readonly kinds: readonly ResourceKind[];
}

export function serveResources(
  server: Server,
  deps: McpDeps,
  { caller, hasSubscriptions }: { readonly caller: Caller; readonly hasSubscriptions: boolean },
): void {
  const { toolbox, ctx, resources: kinds = RESOURCES } = deps;
  const shelfOf = (signal: AbortSignal): Shelf => ({ toolbox, ctx, caller, signal, kinds });
  server.setRequestHandler("resources/list", ({ params }, { mcpReq }) =>
    orProtocolError(ctx, listResources(shelfOf(mcpReq.signal), params?.cursor)),
  );
  server.setRequestHandler("resources/templates/list", ({ params }, { mcpReq }) => {
    if (params?.cursor !== undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, "cursor: the list of templates is one page.");
    return { resourceTemplates: offered(shelfOf(mcpReq.signal)).filter(isTemplate).map(toTemplate) };
  });
  server.setRequestHandler("resources/read", ({ params: { uri } }, { mcpReq }) =>
    orProtocolError(ctx, readResource(shelfOf(mcpReq.signal), uri), uri),
  );
  if (!hasSubscriptions) return;
  const connection = shelfOf(new AbortController().signal);
  serveSubscriptions(server, connection, (uri) => readResource(connection, uri));
}

async function listResources(shelf: Shelf, cursor: string | undefined): Promise<ListResourcesResult> {
  const kinds = offered(shelf);
  const paged = kinds.find((kind) => kind.listPage !== undefined);
  if (cursor !== undefined && paged === undefined)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, "cursor: there is one page.");
  const lists = cursor === undefined ? await Promise.all(kinds.map((kind) => kind.list?.(shelf) ?? [])) : [];
  const page = await paged?.listPage?.(shelf, cursor);
  return {
    resources: [...lists.flat(), ...(page?.resources ?? [])],
    ...(page === undefined || page.nextCursor === null ? {} : { nextCursor: page.nextCursor }),
  };
}

async function readResource(shelf: Shelf, uri: string): Promise<ReadResourceResult> {
  const { kind, value } = findResource(shelf, uri);
  return { contents: [{ ...(await kind.read(value, shelf)), uri }] };
}

function findResource(
  { kinds }: Shelf,
  uri: string,
): { readonly kind: ResourceKind; readonly value: string } {
  for (const kind of kinds) {
    const value = matchAddress(kind, uri);
    if (value !== null) return { kind, value };
  }
  const known = kinds.map((kind) => kind.uri).join(", ");
  throw new ResourceNotFoundError(uri, `There is no resource ${quote(uri)}. Addresses look like ${known}.`);
}

function offered(shelf: Shelf): ResourceKind[] {
  return shelf.kinds.filter((kind) => kind.tool === undefined || isOffered(shelf, kind.tool));
}

function isTemplate(kind: ResourceKind): boolean {
  return variableOf(kind) !== null;
}

function toTemplate({ uri, name, title, description, mimeType }: ResourceKind): ResourceTemplateType {
  return { uriTemplate: uri, name, title, description, mimeType };
}

/** Any process on the database may change a resource, so it is read again. */
const POLL_MS = SECOND;

const MAX_WATCHED = 20;

/** Answers `resources/subscribe` in sessions: the conformance suite requires it up to 2025-11-25. */
function serveSubscriptions(server: Server, { ctx }: Scope, read: (uri: string) => Promise<unknown>): void {
  const known = new Map<string, string>();
  let isPolling = false;
  const look = async (uri: string): Promise<string> => JSON.stringify(await read(uri).catch(() => null));
  const poll = async (): Promise<void> => {
    while (known.size > 0 && server.transport !== undefined) {
      await ctx.clock.sleep(POLL_MS);
      for (const uri of known.keys()) {
        const now = await look(uri);
        if (server.transport === undefined || !known.has(uri) || known.get(uri) === now) continue;
        known.set(uri, now);
        await server.sendResourceUpdated({ uri });
      }
    }
    isPolling = false;
  };
  const subscribe = async (uri: string): Promise<void> => {
    if (known.size >= MAX_WATCHED)
      throw new AppError(
        "too_large",
        `A session can subscribe to ${MAX_WATCHED} resources. Unsubscribe from some first.`,
      );
    known.set(uri, JSON.stringify(await read(uri)));
    if (isPolling) return;
    isPolling = true;
    poll().catch((error: unknown) => ctx.log.debug({ err: error }, "A subscription ended"));
  };
  server.setRequestHandler("resources/subscribe", async ({ params: { uri } }) => {
    await orProtocolError(ctx, subscribe(uri), uri);
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
    known.delete(uri);
    return {};
  });
}
