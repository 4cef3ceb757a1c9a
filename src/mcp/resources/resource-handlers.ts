import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type ListResourcesResult,
  type ReadResourceResult,
  type ResourceTemplateType,
  type Server,
} from "@modelcontextprotocol/server";
import type { Caller } from "../../domain/permissions.ts";
import { quote } from "../../domain/time.ts";
import type { McpDeps } from "../deps.ts";
import { isOffered } from "../look-up.ts";
import { orProtocolError } from "../protocol-error.ts";
import { matchAddress, variableOf, type ResourceKind } from "../kinds.ts";
import { RESOURCES } from "./resources.ts";
import type { Scope } from "../kinds.ts";
import { serveSubscriptions } from "./subscriptions.ts";

/** What is read, and with whose eyes. */
interface Shelf extends Scope {
  readonly kinds: readonly ResourceKind[];
}

/** Answers `resources/*` on a server whose capabilities announce them. */
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
