import type { ReadResourceResult, Resource } from "@modelcontextprotocol/server";
import type { Scope, Suggestion } from "./scope.ts";

type Contents = ReadResourceResult["contents"][number];

/** One kind of thing that clients read by its address. */
export interface ResourceKind {
  /** The address, or a template with one `{variable}`, which stands for a part without slashes. */
  readonly uri: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: string;
  /** Those who may not call this tool are not offered the resource. */
  readonly tool?: string;
  /** What exists now, where that is a short list; of a fixed address it is the address itself. */
  list?(scope: Scope): Promise<Resource[]>;
  /** What exists, a page at a time, where that may be a long list; at most one kind has it. */
  listPage?(
    scope: Scope,
    cursor: string | undefined,
  ): Promise<{ resources: Resource[]; nextCursor: string | null }>;
  /** `value` is that of the variable. Throws `not_found` for what does not exist or is somebody else's. */
  read(value: string, scope: Scope): Promise<Contents>;
  /** Values of the variable. */
  complete?(scope: Scope): Promise<Suggestion[]>;
  /**
   * A text for each of the values that exists, which changes with the resource; where it is there, clients
   * may subscribe.
   */
  versions?(values: readonly string[], scope: Scope): Promise<ReadonlyMap<string, string>>;
}

const VARIABLE = /\{([^{}]+)\}/;

/** The name of the template's variable; null for a fixed address. */
export function variableOf({ uri }: ResourceKind): string | null {
  return VARIABLE.exec(uri)?.[1] ?? null;
}

/** The address of one resource of a kind. */
export function addressOf({ uri }: Pick<ResourceKind, "uri">, value: string): string {
  return uri.replace(VARIABLE, () => encodeURIComponent(value));
}

/** The variable's value in an address of this kind, "" for the fixed one; null for other addresses. */
export function matchAddress({ uri }: ResourceKind, address: string): string | null {
  const [before = "", , after] = uri.split(VARIABLE);
  if (after === undefined) return address === uri ? "" : null;
  if (
    !address.startsWith(before) ||
    !address.endsWith(after) ||
    address.length <= before.length + after.length
  )
    return null;
  const part = address.slice(before.length, address.length - after.length);
  return part.includes("/") ? null : decode(part);
}

function decode(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}

/** A value as the text of a resource. */
export function jsonContents(uri: string, value: unknown): Contents {
  return { uri, mimeType: "application/json", text: JSON.stringify(value) };
}
