import type { AnyPlatform, Checked, GateFacts, GatedOption, PlatformPost } from "../ports/platform.ts";

/** Errors: options that the post's channel does not have. Warnings: those that it may not have. */
export function checkGated(
  { gated = [], title }: AnyPlatform,
  { metadata }: Pick<PlatformPost, "metadata">,
  at: GateFacts,
): Checked {
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
