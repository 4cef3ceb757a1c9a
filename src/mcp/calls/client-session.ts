import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type ElicitRequestFormParams,
  type InputRequest,
  type InputRequests,
  inputRequired,
  type InputRequiredResult,
  inputResponse,
  type InputResponseView,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import * as z from "zod";
import type { Caller } from "../../domain/permissions.ts";
import type { CallingClient, Inquiries, Inquiry, InquiryKind, Replies, Reply } from "../../context.ts";
import type { McpContext } from "../kinds.ts";
import { plainText } from "../../domain/text/plain-text.ts";
import { MINUTE } from "../../domain/time.ts";

export interface CallFrom {
  readonly server: Server;
  readonly context: ServerContext;
  readonly caller: Caller;
  /** The tool or prompt: replies to one are no replies to another. */
  readonly name: string;
}

const ABILITIES: Readonly<Record<InquiryKind, (abilities: ClientCapabilities) => boolean>> = {
  form: canShowForms,
  text: ({ sampling }) => sampling !== undefined,
  folders: ({ roots }) => roots !== undefined,
};

const Action = z.enum(["accept", "decline", "cancel"]);
const StoredReply = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("form"), action: Action, content: z.record(z.string(), z.unknown()) }),
  z.object({ kind: z.literal("text"), text: z.string() }),
  z.object({ kind: z.literal("folders"), uris: z.array(z.string()) }),
]);
const Rounds = z.record(z.string(), StoredReply);

/** The client, asked by a result that needs input. For older revisions the SDK asks and calls again. */
export class ClientSession implements CallingClient {
  readonly #from: CallFrom;
  readonly #state: SealedState;
  #replies: Readonly<Record<string, Reply>> | null = null;

  constructor(ctx: McpContext, from: CallFrom) {
    this.#from = from;
    this.#state = new SealedState(ctx, from.caller, `${from.name}|replies`);
  }

  canAnswer(kind: InquiryKind): boolean {
    return ABILITIES[kind](abilitiesOf(this.#from.server, this.#from.context));
  }

  ask<T extends Inquiries>(inquiries: T): Replies<T> {
    const asked = Object.entries(inquiries);
    const given = asked.flatMap(([name, { kind }]) => {
      const reply = this.#replyTo(name);
      return reply?.kind === kind ? [[name, reply] as const] : [];
    });
    this.#replies = { ...this.#earlier(), ...Object.fromEntries(given) };
    const missing = asked.filter(([name]) => !given.some(([known]) => known === name));
    // Each has a reply of its own kind, which the compiler cannot follow.
    if (missing.length === 0) return Object.fromEntries(given) as Replies<T>;
    throw new InputNeeded(
      Object.fromEntries(missing.map(([name, inquiry]) => [name, toRequest(inquiry)])),
      this.#state.seal(this.#replies),
    );
  }

  #replyTo(name: string): Reply | null {
    return (
      toReply(inputResponse(this.#from.context.mcpReq.inputResponses, name)) ?? this.#earlier()[name] ?? null
    );
  }

  #earlier(): Readonly<Record<string, Reply>> {
    return (this.#replies ??= this.#open());
  }

  #open(): Readonly<Record<string, Reply>> {
    const state = this.#from.context.mcpReq.requestState();
    if (state === undefined) return {};
    const rounds = typeof state === "string" ? this.#state.open(state, Rounds) : null;
    if (rounds !== null) return rounds;
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      "requestState: is not the one that this server gave for this call, or is older than 10 minutes. Call again without it.",
    );
  }
}

/** Ends a call that needs an answer first. The client, or the SDK for it, then calls again. */
export class InputNeeded extends Error {
  readonly result: InputRequiredResult;

  constructor(inputRequests: InputRequests, requestState: string) {
    super("An answer of the client is needed.");
    this.name = "InputNeeded";
    this.result = inputRequired({ inputRequests, requestState });
  }
}

function toRequest(inquiry: Inquiry): InputRequest {
  if (inquiry.kind === "folders") return inputRequired.listRoots();
  if (inquiry.kind === "text") {
    const { prompt, maxTokens } = inquiry;
    return inputRequired.createMessage({
      messages: [{ role: "user", content: { type: "text", text: prompt } }],
      maxTokens,
    });
  }
  // The SDK checks what it sends.
  const requestedSchema = inquiry.schema as ElicitRequestFormParams["requestedSchema"];
  return inputRequired.elicit({ message: inquiry.message, requestedSchema });
}

function toReply(view: InputResponseView): Reply | null {
  if (view.kind === "elicit") {
    const { action, content = {} } = view;
    return { kind: "form", action, content: action === "accept" ? content : {} };
  }
  if (view.kind === "sampling") return { kind: "text", text: textIn(view.result.content) };
  if (view.kind !== "roots") return null;
  const roots = z.array(z.object({ uri: z.string() })).safeParse(view.roots).data ?? [];
  return { kind: "folders", uris: roots.map(({ uri }) => uri) };
}

const TextBlock = z.object({ type: z.literal("text"), text: z.string() });

/** Of a model's answer what can be read; it may come in one piece or in several. */
function textIn(content: unknown): string {
  const blocks: unknown[] = Array.isArray(content) ? content : [content];
  const texts = blocks
    .map((block) => TextBlock.safeParse(block))
    .flatMap(({ data }) => (data === undefined ? [] : [data.text]));
  return texts.join("\n");
}

/** The first revision whose clients answer questions with another call, not to a request of the server. */
const FIRST_STATELESS = "2026-07-28";

export function isStateless(server: Server): boolean {
  return (server.getNegotiatedProtocolVersion() ?? "") >= FIRST_STATELESS;
}

/** What the client can do. Stateless ones say it with each request, others when they open their session. */
export function abilitiesOf(server: Server, { mcpReq }: ServerContext): ClientCapabilities {
  if (!isStateless(server)) return server.getClientCapabilities() ?? {};
  // The SDK's published type of that part is empty.
  const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {};
  return (envelope[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined) ?? {};
}

/** What the client calls itself, which it says in the same places. It is a name and proves nothing. Null: nothing. */
export function programOf(server: Server, { mcpReq }: ServerContext): string | null {
  const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {};
  const told = isStateless(server) ? envelope[CLIENT_INFO_META_KEY] : server.getClientVersion();
  const { title, name } = ClientInfo.safeParse(told).data ?? {};
  return plainText(title ?? name ?? "", MAX_PROGRAM) || null;
}

const MAX_PROGRAM = 60;
const ClientInfo = z.object({ name: z.string(), title: z.string().optional() });

/** Before there were kinds of questions, a client that took any took forms. */
export function canShowForms({ elicitation }: ClientCapabilities): boolean {
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

/** How long a person may think, as long as the tokens of questions live. */
export const ANSWER_MS = 10 * MINUTE;

/** What a call keeps with the client between its rounds, sealed: for the same caller and purpose only. */
export class SealedState {
  readonly #ctx: McpContext;
  readonly #place: string;

  /** `purpose` tells the states of one caller apart. */
  constructor(ctx: McpContext, caller: Caller, purpose: string) {
    this.#ctx = ctx;
    this.#place = `${caller.ownerId}|${caller.keyId}|${purpose}`;
  }

  seal(value: unknown): string {
    return this.#ctx.cipher.seal(
      JSON.stringify({ value, expiresAt: this.#ctx.clock.now() + ANSWER_MS }),
      this.#place,
    );
  }

  /** Null for a state that is too old, or was not sealed for this purpose. */
  open<T>(state: string, schema: z.ZodType<T>): T | null {
    const { value, expiresAt } = this.#read(state);
    const parsed = schema.safeParse(value);
    return parsed.success && typeof expiresAt === "number" && expiresAt > this.#ctx.clock.now()
      ? parsed.data
      : null;
  }

  #read(state: string): { value?: unknown; expiresAt?: unknown } {
    try {
      return JSON.parse(this.#ctx.cipher.open(state, this.#place)) as {
        value?: unknown;
        expiresAt?: unknown;
      };
    } catch {
      return {};
    }
  }
}
