import { z } from "zod";
import type { StatedCapabilities } from "../../src/domain/accounts/capabilities.ts";
import type { OAuthWay } from "../../src/ports/connect.ts";
import { definePlatform, type AnyPlatform, type Platform } from "../../src/ports/platform.ts";

const CAPABILITIES: StatedCapabilities = {
  media: {
    required: true,
    maxItems: 1,
    accepts: [
      {
        kind: "video",
        mimeTypes: ["video/mp4", "video/quicktime", "video/webm"],
        maxBytes: 256_000_000_000,
        maxSeconds: 43_200,
        maxItems: 1,
        videoCodecs: ["avc", "hevc", "vp9", "av1"],
        audioCodecs: ["aac", "opus"],
      },
    ],
  },
  caption: { maxLength: 5_000, unit: "bytes" },
  scheduling: "platform",
  leadMinutes: { min: 0, default: 60, max: 1_440 },
  thumbnail: { set: true, replaceAfterPublish: false },
  reconciles: "session",
};

/** A way on which a person agrees on the platform, with an app that somebody registers. */
export function consentWay(set: Partial<OAuthWay> = {}): OAuthWay {
  return {
    kind: "oauth",
    name: "oauth",
    label: "Sign in with Cinema",
    instructions: "The person agrees on Cinema that films are published for them.",
    setup: {
      url: "https://console.cinema.example/apps",
      steps: [
        "Make an app of the type web.",
        "Register the redirect address {redirectUrl}.",
        "Ask for the scopes {scopes}.",
        "Put id and secret into POSTHORN_CINEMA_CLIENT_ID and POSTHORN_CINEMA_CLIENT_SECRET.",
      ],
      warnings: ["Until the app is audited, films stay private."],
    },
    endpoints: { authorize: "https://cinema.example/authorize", token: "https://cinema.example/token" },
    scopes: ["film.write", "film.read"],
    scopeSeparator: " ",
    pkce: "S256",
    clientAuth: "body",
    redirect: "any",
    instance: "no",
    renewal: null,
    targets: async () => [],
    ...set,
  };
}

/** A platform of films, for which somebody registers an app. */
export function createCinema(set: Partial<Platform> = {}): AnyPlatform {
  return definePlatform({
    name: "cinema",
    title: "Cinema",
    docs: "https://cinema.example/docs",
    capabilities: CAPABILITIES,
    metadata: z.strictObject({ title: z.string().max(100) }),
    settings: [
      {
        name: "BASE_URL",
        meaning: "Its API",
        kind: "address",
        default: "https://cinema.example",
        isRequired: false,
      },
    ],
    connect: [consentWay()],
    publish: async () => ({ state: "live", platformPostId: "1", platformUrl: null }),
    ...set,
  });
}
