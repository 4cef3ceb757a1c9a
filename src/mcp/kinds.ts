import type {
  CallToolResult,
  GetPromptResult,
  ReadResourceResult,
  Resource,
} from "@modelcontextprotocol/server";
import type { Caller } from "../domain/permissions.ts";
import type { AppContext } from "../context.ts";
import type { ToolAccess } from "../toolkit/toolbox.ts";

export type McpContext = Pick<AppContext, "clock" | "log" | "cipher" | "store" | "platforms"> & {
  readonly settings: Pick<AppContext["settings"], "timezone">;
};

/** For whom resources, prompts and completions are read. Data comes through the toolbox and its checks. */
export interface Scope {
  readonly toolbox: ToolAccess;
  readonly ctx: McpContext;
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

/** A value that a person may be offered while they type. */
export interface Suggestion {
  readonly value: string;
  /** What they may type instead of the value: a name, where the value is an id. */
  readonly name?: string;
}

export type Block = CallToolResult["content"][number];

/** What MCP shows of a tool and its results beyond what every face does. */
export interface ToolView {
  readonly tool: string;
  /** For hosts that know more than the protocol asks of them, in the list of tools. */
  readonly meta?: Readonly<Record<string, unknown>>;
  /** What goes with a result beside its text: pictures, sound, resources. */
  content?(result: Readonly<Record<string, unknown>>): readonly Block[];
}

export interface PromptArgument {
  readonly name: string;
  readonly description: string;
  readonly required?: boolean;
  complete?(scope: Scope): Promise<Suggestion[]>;
  /** Throws `invalid` for a value that it cannot have. */
  readonly check?: (value: string) => void;
}

/** A task that a person starts by name, with what they fill in. */
export interface PromptKind {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly PromptArgument[];
  /** Those who may not call this tool are not offered the prompt. */
  readonly tool?: string;
  /** Arguments that were left out are "". */
  messages(args: Readonly<Record<string, string>>, scope: Scope): Promise<GetPromptResult["messages"]>;
}

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
  /** `value` is that of the variable. Throws `not_found` for what does not exist or is another owner's. */
  read(value: string, scope: Scope): Promise<Contents>;
  complete?(scope: Scope): Promise<Suggestion[]>;
}

const VARIABLE = /\{([^{}]+)\}/;

/** The name of the template's variable; null for a fixed address. */
export function variableOf({ uri }: ResourceKind): string | null {
  return VARIABLE.exec(uri)?.[1] ?? null;
}

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

export function jsonContents(uri: string, value: unknown): Contents {
  return { uri, mimeType: "application/json", text: JSON.stringify(value) };
}

export interface McpDeps {
  readonly toolbox: ToolAccess;
  readonly ctx: McpContext;
  readonly version: string;
  /** Whether the caller's key is still good: its open streams end when it is not. Left out: it always is. */
  readonly isKeyActive?: (caller: Caller) => Promise<boolean>;
  /** Whether `/sse` and `/messages` are served; default: yes. */
  readonly hasLegacySse?: boolean;
  /** Resources, prompts and views of tools; without them those of the product. */
  readonly resources?: readonly ResourceKind[];
  readonly prompts?: readonly PromptKind[];
  readonly views?: readonly ToolView[];
  /** What is added to the instructions for this connection. Left out: nothing. */
  readonly note?: string;
  readonly websiteUrl?: string;
}
