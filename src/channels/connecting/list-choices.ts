import { assertUsable } from "../../domain/accounts/account.ts";
import type { Choices, ChoicesArgs } from "../../domain/accounts/platform-listing.ts";
import { AppError } from "../../domain/errors.ts";
import { say } from "../../domain/sentences.ts";
import { deadline, SECOND } from "../../domain/time.ts";
import { quote } from "../../domain/text/plain-text.ts";
import type { AnyPlatform, Choice } from "../../ports/platform.ts";
import { PlatformFault } from "../../ports/platform-io.ts";
import type { AccountRow } from "../../store/queries/accounts.ts";
import type { AppContext, CallContext } from "../../context.ts";
import { findAccount } from "../accounts/accounts.ts";
import { fitChoices } from "../platform-io/fit-answers.ts";
import { gatesOf } from "../platform-io/gated-options.ts";
import { findPlatform } from "../platform-io/set-up.ts";
import { createPlatformIo } from "./account-io.ts";

const ASK_TIMEOUT_MS = 20 * SECOND;
const MAX_CHOICES = 100;

/**
 * The values that a metadata field may have on this channel. Throws `invalid` for a field that has none to
 * look up, `conflict` for a channel that must be reconnected, `unavailable` and `rate_limited` when the
 * platform cannot be asked.
 */
export async function listChoices(
  { ctx, caller, signal }: CallContext,
  { accountId, field, search = "" }: ChoicesArgs,
): Promise<Choices> {
  const account = await findAccount(ctx, caller, accountId);
  const platform = findPlatform(ctx, account.provider);
  const lookUp = findLookUp(platform, field);
  assertUsable(account);
  const [closed] = gatesOf(ctx, account, { metadata: { [field]: "" } }).errors;
  if (closed !== undefined) throw new AppError("conflict", closed);
  const timeout = deadline(ASK_TIMEOUT_MS);
  const choices = await ask(ctx, { platform, account, timeout }, async () => {
    const io = await createPlatformIo(ctx, account, AbortSignal.any([signal, timeout]));
    return lookUp(search.trim(), io);
  });
  return { choices: fitChoices(choices).slice(0, MAX_CHOICES) };
}

function findLookUp(
  { title, choices = {} }: AnyPlatform,
  field: string,
): NonNullable<AnyPlatform["choices"]>[string] {
  const lookUp = Object.hasOwn(choices, field) ? choices[field] : undefined;
  if (lookUp !== undefined) return lookUp;
  if (field === "mention")
    throw new AppError(
      "invalid",
      `field: ${title} cannot be asked for people. @[Name](id) shows the name there.`,
    );
  const known = Object.keys(choices);
  throw new AppError(
    "invalid",
    known.length === 0
      ? say(`${title} has no fields to look up.`, { field: "field", next: [{ do: "list", of: "platforms" }] })
      : say(`${quote(field)} cannot be looked up on ${title}.`, {
          field: "field",
          next: [{ do: "use_fields", of: null, known }],
        }),
  );
}

async function ask(
  ctx: AppContext,
  at: { readonly platform: AnyPlatform; readonly account: AccountRow; readonly timeout: AbortSignal },
  work: () => Promise<readonly Choice[]>,
): Promise<readonly Choice[]> {
  try {
    return await work();
  } catch (error) {
    const isFault = error instanceof PlatformFault;
    if (!isFault && !at.timeout.aborted) throw error;
    ctx.log.warn({ accountId: at.account.id, err: error }, "choices could not be read");
    if (!isFault)
      throw new AppError("unavailable", `${at.platform.title} did not answer in time. Try again later.`);
    const said = `${at.platform.title} did not tell the choices: ${error.message}`;
    if (error.kind === "auth" || error.kind === "rejected")
      throw new AppError("conflict", said, { cause: error });
    const kind = error.kind === "rate" ? "rate_limited" : "unavailable";
    throw new AppError(kind, `${said} Try again later.`, { cause: error });
  }
}
