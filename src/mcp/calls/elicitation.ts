import { randomUUID } from "node:crypto";
import {
  type ElicitResult,
  inputRequired,
  inputResponse,
  SdkError,
  SdkErrorCode,
} from "@modelcontextprotocol/server";
import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import type { ConfirmOptions, Consent, Question } from "../../toolkit/confirm.ts";
import type { CallResult } from "../../toolkit/toolbox.ts";
import {
  abilitiesOf,
  ANSWER_MS,
  type CallFrom,
  canShowForms,
  InputNeeded,
  isStateless,
  SealedState,
} from "./client-session.ts";
import type { McpDeps } from "../kinds.ts";

const Result = z.record(z.string(), z.unknown());
type Result = CallResult["result"];

/** Keys of the questions in a result that needs input, and of their answers. */
const CONFIRM = "confirm";
const OPEN = "open";

/** A form without fields: agreeing to it is the answer. */
const YES_OR_NO: { type: "object"; properties: Record<string, never> } = { type: "object", properties: {} };

const CONSENTS = { accept: "yes", decline: "no", cancel: "closed" } as const;

const UNOPENED =
  "The person did not want to open the address, so nothing is connected. Ask them how to go on. Another call makes a new address.";

/** What is left of a result once its address was shown, and all of it where it was not. */
const Opened = z.object({ rest: Result, whole: Result });

/** The person in front of the client, as far as it lets the server reach them. */
export class Elicitation {
  readonly #ctx: McpDeps["ctx"];
  readonly #at: CallFrom;
  readonly #links: SealedState;
  readonly #isStateless: boolean;
  readonly #canAnswer: boolean;
  readonly #canOpen: boolean;

  constructor(ctx: McpDeps["ctx"], at: CallFrom) {
    const abilities = abilitiesOf(at.server, at.context);
    this.#ctx = ctx;
    this.#at = at;
    this.#links = new SealedState(ctx, at.caller, `${at.name}|link`);
    this.#isStateless = isStateless(at.server);
    this.#canAnswer = canShowForms(abilities);
    this.#canOpen = abilities.elicitation?.url !== undefined;
  }

  /** How a tool may ask them, or what they have said to it. */
  confirmation(): ConfirmOptions {
    if (!this.#canAnswer) return {};
    if (!this.#isStateless) return { ask: (question) => this.#askNow(question) };
    const ask = ({ text, token }: Question): never => {
      throw new InputNeeded(
        { [CONFIRM]: inputRequired.elicit({ message: text, requestedSchema: YES_OR_NO }) },
        token,
      );
    };
    const action = this.#answerTo(CONFIRM);
    if (action === null) return { ask };
    const consent = CONSENTS[action];
    if (consent !== "yes") return { said: consent };
    const token = this.#state();
    return token === null ? { ask } : { ask, confirmToken: token };
  }

  /** The result of an earlier round, whose address they were shown since; null when there was none. */
  openedLink(): Result | null {
    const action = this.#isStateless ? this.#answerTo(OPEN) : null;
    const state = this.#state();
    if (action === null || state === null) return null;
    if (action === "decline") throw new AppError("conflict", UNOPENED);
    const result = this.#links.open(state, Opened);
    if (result !== null) return action === "accept" ? result.rest : result.whole;
    throw new AppError(
      "invalid",
      "The answer came too late, or belongs to another call. Call again for a new address.",
    );
  }

  /** Shows them the address of a result, where the client can; answers what is left to tell. */
  async show({ result, link }: Pick<CallResult, "result" | "link">): Promise<Result> {
    if (link === null || !this.#canOpen) return result;
    const { url, message } = link;
    if (this.#isStateless)
      throw new InputNeeded(
        { [OPEN]: inputRequired.elicitUrl({ message, url }) },
        this.#links.seal({ rest: link.rest, whole: result }),
      );
    const answer = await this.#elicit({ mode: "url", message, url, elicitationId: randomUUID() });
    if (answer?.action === "decline") throw new AppError("conflict", UNOPENED);
    // The address as text is better than none.
    return answer?.action === "accept" ? link.rest : result;
  }

  async #askNow({ text }: Question): Promise<Consent> {
    const answer = await this.#elicit({ message: text, requestedSchema: YES_OR_NO });
    return answer === null ? "failed" : CONSENTS[answer.action];
  }

  /** Null when the client failed to ask. */
  async #elicit(params: Record<string, unknown>): Promise<ElicitResult | null> {
    const { mcpReq } = this.#at.context;
    try {
      return await mcpReq.send(
        { method: "elicitation/create", params },
        { timeout: ANSWER_MS, signal: mcpReq.signal },
      );
    } catch (error) {
      mcpReq.signal.throwIfAborted();
      // They saw the question and let the time pass.
      if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout)
        return { action: "cancel" };
      this.#ctx.log.debug({ err: error }, "A client did not answer a question");
      return null;
    }
  }

  #answerTo(key: string): ElicitResult["action"] | null {
    const answer = inputResponse(this.#at.context.mcpReq.inputResponses, key);
    return answer.kind === "elicit" ? answer.action : null;
  }

  #state(): string | null {
    const state = this.#at.context.mcpReq.requestState();
    return typeof state === "string" ? state : null;
  }
}
