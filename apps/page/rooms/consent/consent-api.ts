import type { Role } from "../../../../src/domain/permissions.ts";
import type { Json } from "../../../shared/json.ts";
import { CallError, send } from "../../data/wire.ts";
import type { Consent } from "./consent-words.ts";

/** A question that is answered, over or unknown, or a server that takes no questions. */
export function isOver(error: unknown): boolean {
  return error instanceof CallError && error.status === 404;
}

/** Null: there is no such question (any more). */
export async function loadConsent(id: string, signal: AbortSignal): Promise<{ consent: Consent | null }> {
  try {
    return await send<{ consent: Consent }>(pathOf(id), { signal });
  } catch (error) {
    if (isOver(error)) return { consent: null };
    throw error;
  }
}

interface Gift {
  readonly role: Role;
  /** Null: all that the person reaches, later ones too. */
  readonly accountIds: readonly string[] | null;
}

/** Answers where the browser goes now. Null: no. */
export async function answerConsent(id: string, gift: Gift | null): Promise<string> {
  const body: Json =
    gift === null
      ? { decision: "deny" }
      : {
          decision: "allow",
          role: gift.role,
          ...(gift.accountIds !== null && { accountIds: gift.accountIds }),
        };
  const { redirectUrl } = await send(pathOf(id), { method: "POST", body });
  return String(redirectUrl);
}

function pathOf(id: string): string {
  return `/consents/${encodeURIComponent(id)}`;
}
