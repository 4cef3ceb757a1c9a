import type { AnyPlatform, CheckResult, GateFacts, GatedOption, PlatformPost } from "../../ports/platform.ts";
import type { AccountRow } from "../../store/queries/accounts.ts";
import type { AppContext } from "../../context.ts";
import { toPlatformAccount } from "./connect-io.ts";
import { findPlatform, readSetting } from "./set-up.ts";

/** Errors: options that the post's channel does not have. Warnings: those that it may not have. */
export function checkGated(
  { gated = [], title }: AnyPlatform,
  { metadata }: Pick<PlatformPost, "metadata">,
  at: GateFacts,
): CheckResult {
  const used = gated.filter((option) => isUsed(option, metadata[option.field]));
  const told = used.map((option) => ({ option, mayUse: option.mayUse(at) }));
  return {
    errors: told
      .filter(({ mayUse }) => mayUse === false)
      .map(({ option: { field, who, instead } }) => `metadata.${field}: is only for ${who}. ${instead}`),
    warnings: told
      .filter(({ mayUse }) => mayUse === null)
      .map(
        ({ option: { field, who } }) =>
          `metadata.${field}: is only for ${who}. Whether this channel is one of them ${title} does not tell. Where it is not, the post fails or goes out without it.`,
      ),
  };
}

function isUsed({ values }: GatedOption, given: unknown): boolean {
  if (values === undefined) return given !== undefined && given !== false;
  return values.some((value) => value === given);
}

/** The same of what a post has for its channel. */
export function gatesOf(
  ctx: AppContext,
  account: AccountRow,
  post: Pick<PlatformPost, "metadata">,
): CheckResult {
  const platform = findPlatform(ctx, account.provider);
  const setting = (name: string): string | null => readSetting(ctx, platform, name);
  return checkGated(platform, post, { account: toPlatformAccount(account), setting });
}
