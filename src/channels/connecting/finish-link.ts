import { nameInFull } from "../../domain/accounts/channel-names.ts";
import type { ConnectionResult } from "./connect-target.ts";
import { randomBytes } from "node:crypto";
import { MINUTE } from "../../domain/time.ts";
import type { Target } from "../../ports/connect.ts";
import { completeConnection, holdConnection, keepChoice } from "../../store/queries/connections.ts";
import { commitOnce } from "../../access/idempotency.ts";
import type { AppContext, GuestCall } from "../../context.ts";
import { connectAccounts, chooseAtOnce, offeredChannels } from "./store-accounts.ts";
import {
  hashToken,
  type KeptChoice,
  LinkUsed,
  minutesLeft,
  type OpenLink,
  sealPending,
} from "./connect-link.ts";

/** How long a person may take to choose. */
const CHOICE_LIFE_MS = 15 * MINUTE;

export interface ConnectedLink {
  readonly state: "connected";
  readonly accountIds: readonly string[];
  readonly accountNames: readonly string[];
  readonly notice: string | null;
  /** A secret that we made. */
  readonly shownOnce: string | null;
}

/** The page on which a person says which of the channels found are connected. */
export type ChoiceForm = Readonly<Awaited<ReturnType<typeof toChoice>>>;

/** What tells a person whose link this is. `host`: of this Posthorn. */
export type Poster = NonNullable<ChoiceForm["poster"]>;

export interface ChoosingLink {
  readonly state: "choose";
  readonly choice: ChoiceForm;
  /** Of the page. */
  readonly token: string;
}

interface Finishing {
  readonly found: ConnectionResult;
  /** Whether the consent ended in another browser than it began in: nothing is connected without asking. */
  readonly isElsewhere: boolean;
}

/**
 * Connects what was found, or keeps it for a person to choose from. Throws `LinkUsed` where another was first,
 * and what `chooseAtOnce` throws.
 */
export async function finishLink(
  call: GuestCall,
  link: OpenLink,
  { found, isElsewhere }: Finishing,
): Promise<ConnectedLink | ChoosingLink> {
  const chosen = chooseAtOnce(link.target, found);
  return chosen === null || isElsewhere
    ? keepForChoice(call, link, { found, isElsewhere })
    : connectChosen(call, link, { found, chosen });
}

/** Uses the link up. Throws `LinkUsed` where another was first. */
export async function connectChosen(
  call: GuestCall,
  { row, target }: OpenLink,
  { found, chosen }: { readonly found: ConnectionResult; readonly chosen: readonly Target[] },
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
    accountIds: accounts.map(({ id }) => id),
    accountNames: accounts.map(nameInFull),
    notice,
    shownOnce,
  };
}

/** The tokens are there: the person need not hurry because coming back took long. */
async function keepForChoice(
  call: GuestCall,
  link: OpenLink,
  { found, isElsewhere }: Finishing,
): Promise<ChoosingLink> {
  const { ctx } = call;
  const expiresAt = Math.max(link.row.expires_at, ctx.clock.now() + CHOICE_LIFE_MS);
  // The person who made the link knows its address. The answer is another's.
  const token = isElsewhere ? randomBytes(32).toString("base64url") : link.token;
  const { tokens, targets, place } = found;
  const kept: KeptChoice = {
    stage: "choice",
    token,
    isElsewhere,
    place,
    tokens: tokens === null ? null : { ...tokens, scopes: tokens.scopes && [...tokens.scopes] },
    targets: [...targets],
  };
  const pendingEnc = sealPending(ctx, link.row, kept);
  const row = { ...link.row, expires_at: expiresAt };
  const choice = { pendingEnc, way: link.target.way.name, expiresAt };
  const tokenHash = isElsewhere ? { tokenHash: hashToken(token) } : {};
  if (!(await commitOnce(call, (tx) => keepChoice(tx, row.id, { ...choice, ...tokenHash }))))
    throw new LinkUsed();
  return { state: "choose", choice: await toChoice(ctx, { ...link, row }, kept), token };
}

export async function toChoice(
  ctx: AppContext,
  { row, target }: Pick<OpenLink, "row" | "target">,
  kept: KeptChoice,
) {
  // A duration: the visitor's time zone is not known.
  const minutesOld = Math.floor((ctx.clock.now() - row.created_at) / MINUTE);
  const { host } = new URL(await ctx.publicUrl());
  return {
    platformTitle: target.platform.title,
    channels: offeredChannels(target, kept),
    minutesLeft: minutesLeft(ctx, row.expires_at),
    /** Where the consent ended in another browser than it began in; else null. */
    poster: kept.isElsewhere ? { ownerId: row.owner_id, host, minutesOld } : null,
  };
}
