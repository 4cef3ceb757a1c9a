import * as z from "zod";
import type { PlatformAccount } from "../../ports/platform-io.ts";

/** What an app with Share on LinkedIn and Sign In with LinkedIn using OpenID Connect has: any app at once. */
export const MEMBER_SCOPES: readonly string[] = ["openid", "profile", "w_member_social"];

/** What an app with the Community Management API has. LinkedIn lets that be an app's only product: no `openid`. */
export const PAGE_SCOPES: readonly string[] = [
  "r_basicprofile",
  "w_member_social",
  "w_member_social_feed",
  "r_member_postAnalytics",
  "w_organization_social",
  "w_organization_social_feed",
  "r_organization_social",
  "r_organization_social_feed",
  "rw_organization_admin",
];

const Kept = z.array(z.string()).catch([...MEMBER_SCOPES, "w_organization_social", "r_organization_social"]);

/**
 * Whether the person allowed it, as connecting kept it in `scopes`. A channel that was connected before they
 * were kept has what was asked for then.
 */
export function isAllowed({ settings }: Pick<PlatformAccount, "settings">, scope: string): boolean {
  return Kept.parse(settings["scopes"]).includes(scope);
}
