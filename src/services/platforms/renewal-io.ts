import type { App, ConnectWay, RenewalIo } from "../../ports/connect.ts";
import type { AnyPlatform } from "../../ports/platform.ts";
import type { AccountRow } from "../../store/tables/accounts.ts";
import type { GrantRow } from "../../store/tables/grants.ts";
import type { AppContext } from "../context.ts";
import { findUsedApp } from "./apps.ts";
import { createConnectIo, requirePlatform, toPlatformAccount } from "./platform-io.ts";
import type { SecretValues } from "./secrets.ts";
import { wayOf } from "./ways.ts";

const NO_APP: App = { clientId: "", clientSecret: "" };

export interface RenewalParts {
  readonly grant: GrantRow;
  /** One of its channels, whose own secrets were opened: they vouch for the server that its settings name. */
  readonly account: AccountRow;
  readonly secrets: SecretValues;
}

/** What a platform gets to renew tokens or give them back, apart from whoever asked for that. */
export async function createRenewalIo(
  ctx: AppContext,
  { grant, account, secrets }: RenewalParts,
  withinMs: number,
): Promise<{ readonly io: RenewalIo; readonly way: ConnectWay; readonly platform: AnyPlatform }> {
  const platform = requirePlatform(ctx, grant.provider);
  const way = wayOf(platform, grant);
  const place = { instanceUrl: grant.instance_url, redirectUrl: grant.redirect_url };
  const app = way.kind === "oauth" ? await findUsedApp(ctx, { platform, way, place }) : NO_APP;
  const knownSecrets = new Set([...Object.values(secrets), app.clientSecret]);
  const asking = { provider: platform.name, ownerId: grant.owner_id, knownSecrets };
  const io = await createConnectIo(ctx, asking, AbortSignal.timeout(withinMs));
  return { platform, way, io: { ...io, account: toPlatformAccount(account), app, place } };
}
