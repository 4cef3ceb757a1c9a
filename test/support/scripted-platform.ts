import { z } from "zod";
import type { Capabilities } from "../../src/domain/accounts/account.ts";
import { definePlatform, type AnyPlatform, type Platform } from "../../src/ports/platform.ts";

export const TEXT_CAPABILITIES: Capabilities = {
  media: { required: false, maxItems: 0, accepts: [] },
  caption: { maxLength: 300, unit: "graphemes" },
  nativeScheduling: false,
  leadMinutes: { min: 0, default: 0, max: 60 },
  thumbnail: { set: false, replaceAfterPublish: false },
  editPublished: { fields: [] },
  analytics: { account: [], post: [] },
  reconciles: "client_key",
  needsPublicMediaUrl: false,
};

const metadata = z.strictObject({ title: z.string().max(100).optional() });

/** A platform that takes text and does what the test's `publish` does. */
export function scriptedPlatform(
  parts: Pick<Platform<typeof metadata>, "publish"> & Partial<Platform<typeof metadata>>,
): AnyPlatform {
  return definePlatform({
    name: "scripted",
    title: "Scripted",
    docs: "https://platform.example/docs",
    capabilities: TEXT_CAPABILITIES,
    metadata,
    requiredSettings: [],
    connect: {
      kind: "none",
      connect: async (input) => ({
        platformAccountId: null as never,
        name: input.name ?? "Scripted channel",
        handle: null,
        profileUrl: null,
        avatarUrl: null,
        scopes: [],
        tokenExpiresAt: null,
        settings: {},
        secrets: {},
      }),
    },
    ...parts,
  });
}
