import { z } from "zod";
import { completeCapabilities } from "../../src/domain/accounts/capabilities.ts";
import type { NoneWay, Renewal, RenewalIo, Secrets, SecretsWay, Target } from "../../src/ports/connect.ts";
import { definePlatform, type AnyPlatform, type Platform } from "../../src/ports/platform.ts";

export const TEXT_CAPABILITIES = completeCapabilities({
  media: { required: false, maxItems: 0, accepts: [] },
  caption: { maxLength: 300, unit: "graphemes" },
  leadMinutes: { min: 0, default: 0, max: 60 },
  reconciles: "client_key",
});

/** New secrets for expired ones. */
export type Refresh = (
  secrets: Secrets,
  io: RenewalIo,
) => Promise<{ readonly secrets: Secrets; readonly tokenExpiresAt: number | null }>;

export function renewalBy(refresh: Refresh): Renewal {
  return {
    beforeMs: 0,
    isSingleUse: false,
    renew: async (secrets, io) => {
      const { secrets: fresh, tokenExpiresAt: expiresAt } = await refresh(secrets, io);
      return { secrets: fresh, expiresAt, renewableUntil: null, scopes: null, answer: {} };
    },
  };
}

/** A way to connect whose tokens are renewed so; nobody connects by it. */
function renewedBy(refresh: Refresh): SecretsWay {
  return {
    kind: "secrets",
    name: "token",
    label: "Token",
    instructions: "Enter the token.",
    fields: [{ name: "accessToken", label: "Token", help: "Yours.", isRequired: true, isSecret: true }],
    renewal: renewalBy(refresh),
    connect: async () => ({ tokens: null, targets: [] }),
  };
}

/** A channel as connecting finds it, with nothing to tell. */
export function targetOf(target: Partial<Target> & Pick<Target, "platformAccountId" | "name">): Target {
  return { handle: null, profileUrl: null, avatarUrl: null, settings: {}, secrets: {}, ...target };
}

const metadata = z.strictObject({ title: z.string().max(100).optional() });

/** Each connection finds a channel of its own. */
let made = 0;

const atOnce: NoneWay = {
  kind: "none",
  name: "scripted",
  label: "At once",
  instructions: "It is made at once.",
  connect: async (input) => ({
    tokens: null,
    targets: [
      targetOf({
        platformAccountId: input.reconnecting?.platformAccountId ?? `scripted-${++made}`,
        name: input.name ?? "Scripted channel",
      }),
    ],
  }),
};

/** A platform that takes text and does what the test's `publish` does. */
export function scriptedPlatform({
  refresh,
  ...parts
}: Pick<Platform<typeof metadata>, "publish"> &
  Partial<Platform<typeof metadata>> & { readonly refresh?: Refresh }): AnyPlatform {
  return definePlatform({
    name: "scripted",
    title: "Scripted",
    docs: "https://platform.example/docs",
    capabilities: TEXT_CAPABILITIES,
    metadata,
    settings: [],
    connect: [refresh === undefined ? atOnce : renewedBy(refresh)],
    ...parts,
  });
}
