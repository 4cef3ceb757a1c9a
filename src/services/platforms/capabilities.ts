import type { PlatformCapabilities } from "../../domain/accounts/capabilities.ts";
import type { PlatformPost } from "../../ports/platform.ts";
import type { AccountRow } from "../../store/queries/accounts.ts";
import type { AppContext } from "../context.ts";
import { toPlatformAccount, type SeenAccount } from "./connect-io.ts";

/**
 * What the account can do, and with a post of this kind (null: in general). Whoever knows the account asks
 * here and not its platform's data: servers, plans and permissions differ. Of an account whose platform is
 * not installed: nothing.
 */
export function capabilitiesFor(
  { platforms }: Pick<AppContext, "platforms">,
  row: SeenAccount & Pick<AccountRow, "provider">,
  post: PlatformPost | null,
): PlatformCapabilities {
  const platform = platforms.get(row.provider);
  if (platform === undefined) return NO_CAPABILITIES;
  return platform.capabilitiesOf?.(toPlatformAccount(row), post) ?? platform.capabilities;
}

const NO_CAPABILITIES: PlatformCapabilities = {
  media: { required: false, maxItems: 0, accepts: [] },
  caption: { maxLength: 0, unit: "characters" },
  scheduling: "none",
  leadMinutes: { min: 0, default: 0, max: 0 },
  thumbnail: { set: false, replaceAfterPublish: false },
  editPublished: { fields: [] },
  analytics: { account: [], post: [] },
  reconciles: "blind",
  fetchesMedia: [],
  quotas: [],
};
