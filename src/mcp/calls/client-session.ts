import {
  inputRequired,
  inputResponse,
  ProtocolError,
  ProtocolErrorCode,
  type ClientCapabilities,
  type ElicitRequestFormParams,
  type InputRequest,
  type InputRequests,
  type InputRequiredResult,
  type InputResponseView,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import * as z from "zod";
import type { Caller } from "../../domain/permissions.ts";
import type { CallingClient, Inquiries, Inquiry, InquiryKind, Replies, Reply } from "../../context.ts";
import { abilitiesOf, canShowForms } from "./client-abilities.ts";
import type { McpContext } from "../kinds.ts";
import { SealedState } from "./sealed-state.ts";

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

const FormReply = z.object({
  kind: z.literal("form"),
  action: z.enum(["accept", "decline", "cancel"]),
  content: z.record(z.string(), z.unknown()),
});
const TextReply = z.object({ kind: z.literal("text"), text: z.string() });
const FoldersReply = z.object({ kind: z.literal("folders"), uris: z.array(z.string()) });

/** Replies of earlier rounds, by name. */
const Rounds = z.record(z.string(), z.discriminatedUnion("kind", [FormReply, TextReply, FoldersReply]));

/**
 * The client on the other end, asked by a result that needs input. The SDK asks clients of older revisions by
 * requests of their own and calls again in their place, so that a tool is written once; and refuses for
 * clients that lack the ability.
 */
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

/**
 * Ends a call that needs an answer from the client first, which then calls again; clients with sessions are
 * asked meanwhile.
 */
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
  if (view.kind === "elicit")
    return {
      kind: "form",
      action: view.action,
      content: view.action === "accept" ? (view.content ?? {}) : {},
    };
  if (view.kind === "sampling") return { kind: "text", text: textIn(view.result.content) };
  if (view.kind === "roots")
    return {
      kind: "folders",
      uris: z
        .array(z.object({ uri: z.string() }))
        .catch([])
        .parse(view.roots)
        .map(({ uri }) => uri),
    };
  return null;
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
