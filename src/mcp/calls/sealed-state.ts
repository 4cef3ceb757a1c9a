import type * as z from "zod";
import type { Caller } from "../../domain/permissions.ts";
import { MINUTE } from "../../domain/time.ts";
import type { McpContext } from "../kinds.ts";

/** How long a person may think, as long as the tokens of questions live. */
export const ANSWER_MS = 10 * MINUTE;

/**
 * What a call keeps between its rounds, in the client's own hands: it can neither be read nor changed there,
 * nor used elsewhere.
 */
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
