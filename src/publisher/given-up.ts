import type { EndedPost } from "../store/engine/claims.ts";

/** Why a post is given up with which the program ended again and again. */
export function whyGivenUp({ ends, is_light: isLight, in_doubt: isInDoubt, ...account }: EndedPost): string {
  const times = ends === 2 ? "twice" : `${ends} times`;
  const media = isLight === 1 ? "" : " Its media may be damaged, or more than this machine can take in.";
  const why = `${times} in a row the program ended while it worked on this post, so it was given up.${media}`;
  const where = account.account_url ?? `the channel "${account.account_name}"`;
  if (isInDoubt === 0)
    return `${why.charAt(0).toUpperCase()}${why.slice(1)} Look at ${where}, then change it and send it again.`;
  return `outcome unknown: ${why} Look at ${where}, then settle it with resolve_post, or call retry_post, which asks the platform.`;
}
