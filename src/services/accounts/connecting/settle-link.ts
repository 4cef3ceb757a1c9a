import { MINUTE } from "../../../domain/time.ts";
import type { Target } from "../../../ports/connect.ts";
import { completeConnection, holdConnection, keepChoice } from "../../../store/tables/connections.ts";
import { commitOnce } from "../../access/idempotency.ts";
import type { GuestCall } from "../../context.ts";
import { connectAccounts } from "./connect-account.ts";
import { LinkUsed, minutesLeft, type OpenLink } from "./connect-link.ts";
import { sealPending } from "./connect-pending.ts";
import { chooseAtOnce, toChannels, type Found, type FoundChannel } from "./found-channels.ts";

/** How long a person may take to choose. */
const CHOICE_LIFE_MS = 15 * MINUTE;

export interface ConnectedLink {
  readonly state: "connected";
  readonly platformTitle: string;
  readonly accountNames: readonly string[];
  readonly notice: string | null;
  /** A secret that we made. */
  readonly shownOnce: string | null;
}

/** The page on which a person says which of the channels found are connected. */
export interface ChoiceForm {
  readonly platformTitle: string;
  readonly channels: readonly FoundChannel[];
  readonly minutesLeft: number;
}

export interface ChoosingLink {
  readonly state: "choose";
  readonly choice: ChoiceForm;
}

/**
 * Connects what was found, or keeps it for a person to choose from. Throws `LinkUsed` where another was first,
 * and what `chooseAtOnce` throws.
 */
export async function settleLink(
  call: GuestCall,
  link: OpenLink,
  found: Found,
): Promise<ConnectedLink | ChoosingLink> {
  const chosen = chooseAtOnce(link.target, found);
  return chosen === null ? keepForChoice(call, link, found) : connectChosen(call, link, { found, chosen });
}

/** Uses the link up. Throws `LinkUsed` where another was first. */
export async function connectChosen(
  call: GuestCall,
  { row, target }: OpenLink,
  { found, chosen }: { readonly found: Found; readonly chosen: readonly Target[] },
): Promise<ConnectedLink> {
  const { accounts, notice, shownOnce } = await connectAccounts(call, {
    target,
    found,
    chosen,
    begin: async (tx) => {
      if (!(await holdConnection(tx, row.id))) throw new LinkUsed();
    },
    answer: async (tx, outcome) => {
      const [first, ...more] = outcome.accounts;
      if (!(await completeConnection(tx, row.id, [first.id, ...more.map(({ id }) => id)])))
        throw new LinkUsed();
      return outcome;
    },
  });
  return {
    state: "connected",
    platformTitle: target.platform.title,
    accountNames: accounts.map(({ name }) => name),
    notice,
    shownOnce,
  };
}

/** The tokens are there: nobody has to hurry because coming back took long. */
async function keepForChoice(call: GuestCall, link: OpenLink, found: Found): Promise<ChoosingLink> {
  const { ctx } = call;
  const { row, target, token } = link;
  const expiresAt = Math.max(row.expires_at, ctx.clock.now() + CHOICE_LIFE_MS);
  const { tokens, targets, place } = found;
  const pendingEnc = sealPending(ctx, row, {
    stage: "choice",
    token,
    place,
    tokens:
      tokens === null ? null : { ...tokens, scopes: tokens.scopes === null ? null : [...tokens.scopes] },
    targets: [...targets],
  });
  const isKept = await commitOnce(call, (tx) =>
    keepChoice(tx, row.id, { pendingEnc, way: target.way.name, expiresAt }),
  );
  if (!isKept) throw new LinkUsed();
  return {
    state: "choose",
    choice: {
      platformTitle: target.platform.title,
      channels: toChannels(found),
      minutesLeft: minutesLeft(ctx, expiresAt),
    },
  };
}
