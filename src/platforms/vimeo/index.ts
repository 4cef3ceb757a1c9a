import * as z from "zod";
import type { StatedCapabilities } from "../../domain/accounts/capabilities.ts";
import { AppError } from "../../domain/errors.ts";
import { MINUTE } from "../../domain/time.ts";
import type {
  Connected,
  ConnectInput,
  ConnectIo,
  OAuthWay,
  RenewalIo,
  Secrets,
  SecretsWay,
  SetupGuide,
  Target,
} from "../../ports/connect.ts";
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import { definePlatform, type Inspection, type PlatformAnalytics } from "../../ports/platform.ts";
import { naming } from "../shared/faults.ts";
import { ACCEPTED } from "../shared/media.ts";
import { askOwn, askWith, requestWith } from "./api.ts";
import { edit, insights, publish, remove, setThumbnail } from "./live.ts";
import { EDITABLE, GATED, MAX_DESCRIPTION, VimeoMetadata, titleOf } from "./metadata.ts";
import { secretField } from "../shared/connect.ts";
import { USUAL_CONSENT } from "../shared/consent.ts";

const SCOPES = ["public", "private", "upload", "edit", "delete", "stats"] as const;
const NEEDED = ["private", "upload", "edit"] as const;
const APPS = "https://developer.vimeo.com/apps";

const SETUP: SetupGuide = {
  url: APPS,
  needs: [
    "Upload access for the app. With a paid plan it is given at once. On the free plan a person at Vimeo reviews the request, which takes up to five working days. Without it Vimeo refuses every post.",
  ],
  steps: [
    `Open ${APPS} and create an app. Where others will use it too, say so.`,
    "In its settings, add the callback URL {redirectUrl}.",
    'Under "Permissions", request upload access.',
    "Copy the client identifier and a client secret into POSTHORN_VIMEO_CLIENT_ID and POSTHORN_VIMEO_CLIENT_SECRET. The app asks for: {scopes}.",
  ],
  warnings: [
    "For an account of your own, a personal access token from the app's page works too, and needs no setting.",
    "Space, the number of videos, and unlisted videos depend on the account's plan. Free accounts cannot have unlisted ones.",
    "Vimeo makes no video public by itself. Posthorn has to run at the time of the post.",
  ],
};

const Me = z.looseObject({
  uri: z.string().regex(/^\/users\/\d+$/),
  name: z.string().catch(""),
  link: z.url().nullish().catch(null),
  pictures: z
    .looseObject({ sizes: z.array(z.looseObject({ link: z.url() })).catch([]) })
    .nullish()
    .catch(null),
  account: z.string().catch(""),
  upload_quota: z
    .looseObject({ space: z.looseObject({ free: z.number().nullish() }).nullish().catch(null) })
    .nullish()
    .catch(null),
});

const ME = {
  path: "/me",
  query: { fields: "uri,name,link,account,pictures.sizes,upload_quota.space" },
} as const;

function targetOf({ uri, name, link, pictures }: z.infer<typeof Me>): Target {
  const id = uri.split("/").at(-1) ?? "";
  const handle = link?.split("/").at(-1) ?? null;
  const avatarUrl = pictures?.sizes.at(-1)?.link ?? null;
  return {
    platformAccountId: id,
    name: name === "" ? id : name,
    handle,
    profileUrl: link ?? null,
    avatarUrl,
    settings: {},
    secrets: {},
  };
}

const targetWith = async (io: ConnectIo, secrets: Secrets): Promise<Target> =>
  targetOf(await askWith(io, { secrets }, ME, Me));

const OAUTH: OAuthWay = {
  ...USUAL_CONSENT,
  name: "oauth",
  label: "Sign in with Vimeo",
  instructions: "Sign in to Vimeo and allow the app to upload and edit videos.",
  setup: SETUP,
  endpoints: {
    authorize: "https://api.vimeo.com/oauth/authorize",
    token: "https://api.vimeo.com/oauth/access_token",
  },
  scopes: SCOPES,
  neededScopes: NEEDED,
  clientAuth: "basic",
  // As a rule its tokens do not end.
  renewal: { beforeMs: 5 * MINUTE, isSingleUse: true },
  revoke,
  targets: async ({ secrets }, io) => [await targetWith(io, secrets)],
};

async function revoke({ accessToken = "" }: Secrets, io: RenewalIo): Promise<void> {
  const call = { method: "DELETE", path: "/tokens", isIdempotent: true } as const;
  await io.request(requestWith(io, { secrets: { accessToken } }, call));
}

const TOKEN_PLACE = `On the app's page at ${APPS}, under "Generate an access token", choose "Authenticated" and tick ${SCOPES.join(", ")}.`;

const TOKEN: SecretsWay = {
  kind: "secrets",
  name: "token",
  label: "Personal access token",
  instructions: `${TOKEN_PLACE} The app needs upload access. It can be deleted there at any time.`,
  fields: [secretField("accessToken", "Access token", TOKEN_PLACE)],
  renewal: null,
  connect,
};

const Verified = z.looseObject({ scope: z.string().nullish() });

async function connect({ secrets }: ConnectInput, io: ConnectIo): Promise<Connected> {
  const accessToken = (secrets["accessToken"] ?? "").trim();
  const target = await naming("accessToken", () => targetWith(io, { accessToken })).catch(
    (cause: unknown) => {
      if (!(cause instanceof PlatformFault) || cause.kind !== "auth") throw cause;
      throw new AppError("invalid", `accessToken: Vimeo refused it. ${TOKEN_PLACE}`, { cause });
    },
  );
  const verified = await askWith(io, { secrets: { accessToken } }, { path: "/oauth/verify" }, Verified);
  const scopes = verified.scope?.split(/\s+/);
  const missing = NEEDED.filter((scope) => scopes !== undefined && !scopes.includes(scope));
  if (missing.length > 0)
    throw new AppError("invalid", `accessToken: it may not ${missing.join(", ")}. ${TOKEN_PLACE}`);
  return { tokens: null, targets: [{ ...target, secrets: { accessToken } }] };
}

async function inspect(io: PlatformIo): Promise<Inspection> {
  const me = await askOwn(io, ME, Me);
  const { name, handle, avatarUrl } = targetOf(me);
  const isFull = me.upload_quota?.space?.free === 0;
  const problem =
    "The account's space on Vimeo is used up. Delete videos there, wait, or take a larger plan.";
  return { name, handle, avatarUrl, limits: { plan: me.account }, problem: isFull ? problem : null };
}

const Followers = z.looseObject({
  metadata: z.looseObject({
    connections: z.looseObject({ followers: z.looseObject({ total: z.int() }) }),
  }),
});

/** Vimeo tells numbers by day only on its own pages. */
async function analytics(_range: object, io: PlatformIo): Promise<PlatformAnalytics> {
  const call = { path: "/me", query: { fields: "metadata.connections.followers.total" } };
  const { metadata } = await askOwn(io, call, Followers);
  return { totals: { followers: metadata.connections.followers.total }, days: [], unavailable: [] };
}

const CAPABILITIES: StatedCapabilities = {
  media: {
    required: true,
    maxItems: 1,
    // https://help.vimeo.com/hc/en-us/articles/12426043233169
    accepts: [{ kind: "video", mimeTypes: ACCEPTED.video, maxBytes: 250 * 1024 ** 3, maxItems: 1 }],
  },
  caption: { maxLength: MAX_DESCRIPTION, unit: "characters" },
  scheduling: "ours",
  // Transcoding takes minutes, and longer for large films.
  leadMinutes: { min: 0, default: 60, max: 7 * 24 * 60 },
  thumbnail: { set: true, replaceAfterPublish: true },
  editPublished: { fields: EDITABLE },
  analytics: { account: ["followers"], post: ["views", "likes", "comments"] },
  reconciles: "session",
};

export default definePlatform({
  name: "vimeo",
  title: "Vimeo",
  docs: "https://developer.vimeo.com/api/reference",
  baseUrl: "https://api.vimeo.com",
  capabilities: CAPABILITIES,
  metadata: VimeoMetadata,
  gated: GATED,
  connect: [OAUTH, TOKEN],
  preview: (post) => ({ title: titleOf(post) }),
  inspect,
  publish,
  edit,
  setThumbnail,
  insights,
  analytics,
  remove,
});
