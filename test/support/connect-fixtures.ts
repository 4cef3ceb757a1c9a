import { Readable } from "node:stream";
import { z } from "zod";
import { completeCapabilities } from "../../src/domain/accounts/capabilities.ts";
import { AppError } from "../../src/domain/errors.ts";
import { OutboundFailure, type Outbound, type OutboundRequest } from "../../src/ports/outbound.ts";
import type { Connected, ConnectInput } from "../../src/ports/connect.ts";
import { definePlatform, type AnyPlatform, type Platform } from "../../src/ports/platform.ts";
import { PlatformFault } from "../../src/ports/platform-io.ts";
import { renewalBy, targetOf, type Refresh } from "./scripted-platform.ts";

const CAPABILITIES = completeCapabilities({
  media: { required: false, maxItems: 1, accepts: [] },
  caption: { maxLength: 300, unit: "graphemes" },
  reconciles: "client_key",
});

const BASE = {
  docs: "https://photobox.example/api",
  capabilities: CAPABILITIES,
  metadata: z.strictObject({ title: z.string().max(50).optional() }),
  settings: [],
  publish: async () => ({ state: "live", platformPostId: "1", platformUrl: null }) as const,
} satisfies Partial<Platform>;

/** The people of the invented platform, by password. */
const PEOPLE: Readonly<Record<string, { id: string; handle: string }>> = {
  "alice-password-1": { id: "did:alice", handle: "alice.example" },
  "alice-password-2": { id: "did:alice", handle: "alice.example" },
  "bob-password-1": { id: "did:bob", handle: "bob.example" },
};

interface Photobox {
  readonly platform: AnyPlatform;
  readonly inputs: ConnectInput[];
  /** Awaited by every connect before it answers. */
  gate: Promise<void>;
}

/** A platform that asks for a handle and a password. */
export function createPhotobox({
  refresh,
  ...overrides
}: Partial<Platform> & { readonly refresh?: Refresh } = {}): Photobox {
  const inputs: ConnectInput[] = [];
  const box: Photobox = {
    inputs,
    gate: Promise.resolve(),
    platform: definePlatform({
      ...BASE,
      name: "photobox",
      title: "Photobox",
      connect: [
        {
          kind: "secrets",
          name: "appPassword",
          label: "App password",
          renewal: refresh === undefined ? null : renewalBy(refresh),
          instructions: "Make an app password under Settings, App passwords.",
          fields: [
            { name: "handle", label: "Handle", help: "Your user name.", isRequired: true, isSecret: false },
            {
              name: "appPassword",
              label: "App password",
              help: "From Settings.",
              isRequired: true,
              isSecret: true,
            },
            { name: "hint", label: "Hint", help: "Whatever helps.", isRequired: false, isSecret: true },
          ],
          connect: async (input) => {
            inputs.push(input);
            await box.gate;
            return signIn(input, refresh !== undefined);
          },
        },
      ],
      ...overrides,
    }),
  };
  return box;
}

/** What is renewed belongs to the tokens. */
function signIn(input: ConnectInput, isRenewed: boolean): Connected {
  const password = input.secrets["appPassword"] ?? "";
  if (password === "offline") throw new PlatformFault("not_sent", "Photobox could not be reached.");
  if (password === "busy")
    throw new PlatformFault("rate", "Photobox asks to slow down.", { retryAfterMs: 120_000 });
  if (password === "wrong app")
    throw new PlatformFault("setup", "POSTHORN_PHOTOBOX_CLIENT_SECRET: Photobox does not know it.");
  if (password === "bug") throw new TypeError("undefined is not a function");
  const person = PEOPLE[password];
  if (person === undefined)
    throw new AppError(
      "invalid",
      "appPassword: Photobox does not know it. Make a new one and enter it again.",
    );
  const secrets = {
    appPassword: password,
    hint: input.secrets["hint"] ?? "",
    accessToken: `access-${person.id}-canary`,
  };
  return {
    tokens: {
      secrets: isRenewed ? secrets : {},
      expiresAt: null,
      renewableUntil: null,
      scopes: ["write"],
      answer: {},
    },
    targets: [
      {
        platformAccountId: person.id,
        name: person.handle,
        handle: person.handle,
        profileUrl: `https://photobox.example/${person.handle}`,
        avatarUrl: null,
        settings: { server: "https://photobox.example", instanceUrl: input.instanceUrl },
        secrets: isRenewed ? {} : secrets,
        ...(input.secrets["hint"] === "notice"
          ? { notice: "Give the receiver this.", shownOnce: "whsec_shown_once" }
          : {}),
      },
    ],
  };
}

/** A platform that needs nothing. */
export function createPinboard(): AnyPlatform {
  let made = 0;
  return definePlatform({
    ...BASE,
    name: "pinboard",
    title: "Pinboard",
    connect: [
      {
        kind: "none",
        name: "pinboard",
        label: "At once",
        instructions: "It is made at once.",
        connect: async (input) => ({
          tokens: null,
          targets: [targetOf({ platformAccountId: `pin-${++made}`, name: input.name ?? "My pinboard" })],
        }),
      },
    ],
  });
}

export type ScriptedAnswer =
  | Error
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string | Readable };

/** An outbound client that answers from a script and keeps what was sent. */
export function createScriptedOutbound(
  answers: ScriptedAnswer[] = [],
): Outbound & { readonly sent: OutboundRequest[]; readonly answers: ScriptedAnswer[] } {
  const sent: OutboundRequest[] = [];
  return {
    sent,
    answers,
    request: async (request) => {
      sent.push(request);
      const answer = answers.shift() ?? new OutboundFailure("The script is over.", false);
      if (answer instanceof Error) throw answer;
      const body =
        answer.body instanceof Readable ? answer.body : Readable.from([Buffer.from(answer.body ?? "")]);
      return { status: answer.status, headers: answer.headers ?? {}, url: request.url, body };
    },
    assertAllowed: (field, url) => {
      if (!URL.canParse(url)) throw new AppError("invalid", `${field}: this is not an address.`);
      if (new URL(url).hostname === "10.0.0.1")
        throw new AppError("invalid", `${field}: private addresses are not allowed.`);
      return new URL(url);
    },
  };
}
