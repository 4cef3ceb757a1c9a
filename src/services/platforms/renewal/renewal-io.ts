import { deadline } from "../../../domain/deadline.ts";
import type { App, ConnectWay, RenewalIo, Secrets } from "../../../ports/connect.ts";
import type { AnyPlatform } from "../../../ports/platform.ts";
import type { AccountRow } from "../../../store/queries/accounts.ts";
import type { GrantRow } from "../../../store/queries/grants.ts";
import type { AppContext } from "../../context.ts";
import { findUsedApp } from "../apps.ts";
import { requirePlatform, wayOf } from "../ways.ts";

const NO_APP: App = { clientId: "", clientSecret: "" };

/** Opens what a channel's platform gets; handed in by those who know how (`openAccountIo`). */
export type OpenIo = (
  ctx: AppContext,
  at: { readonly account: AccountRow; readonly knownSecrets: ReadonlySet<string> },
  signal: AbortSignal,
) => Promise<Omit<RenewalIo, "app" | "place">>;

export interface RenewalParts {
  readonly openIo: OpenIo;
  readonly grant: GrantRow;
  /** One of its channels, whose own secrets were opened: they vouch for the server that its settings name. */
  readonly account: AccountRow;
  readonly secrets: Secrets;
}

/** What a platform gets to renew tokens or give them back, apart from whoever asked for that. */
export async function createRenewalIo(
  ctx: AppContext,
  { grant, account, secrets, openIo }: RenewalParts,
  withinMs: number,
): Promise<{ readonly io: RenewalIo; readonly way: ConnectWay; readonly platform: AnyPlatform }> {
  const platform = requirePlatform(ctx, grant.provider);
  const way = wayOf(platform, grant);
  const place = { instanceUrl: grant.instance_url, redirectUrl: grant.redirect_url };
  const app = way.kind === "oauth" ? await findUsedApp(ctx, { platform, way, place }) : NO_APP;
  const knownSecrets = new Set([...Object.values(secrets), app.clientSecret]);
  const io = await openIo(ctx, { account, knownSecrets }, deadline(withinMs));
  return { platform, way, io: { ...io, app, place } };
}
