import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import type { Connected, ConnectInput, ConnectIo, SecretsWay } from "../../ports/connect.ts";
import { PlatformFault } from "../../ports/platform-io.ts";
import { oneChannel, secretField } from "../shared/connect.ts";
import { explainUnreached } from "../shared/servers.ts";
import { ADMIN_KEY, callWith, Site } from "./api.ts";
import {
  analytics,
  authors,
  edit,
  EDITABLE_FIELDS,
  insights,
  inspect,
  newsletters,
  ONE,
  remove,
  setThumbnail,
} from "./live.ts";
import { withoutTrailing } from "../../domain/parse-url.ts";
import { DAY, MINUTE } from "../../domain/time.ts";
import { definePlatform } from "../../ports/platform.ts";
import { check, GhostMetadata } from "./metadata.ts";
import { MEDIA, publish } from "./publish.ts";
import { shownThere } from "../shared/shown.ts";
import { textOfHtml } from "../../domain/text/html-text.ts";

const KEY_PLACE =
  "In Ghost, under Settings, Integrations, choose Add custom integration. Its card shows the Admin API key and the API URL.";

const KEY: SecretsWay = {
  kind: "secrets",
  name: "key",
  label: "Admin API key",
  instructions: `${KEY_PLACE} The site's address is the API URL there. Posts appear under the name of the site's owner, unless a post names authors. No mail is sent unless it names a newsletter. On Ghost(Pro), the cheapest plan has no custom integrations.`,
  fields: [
    secretField(
      "adminKey",
      "Admin API key",
      `${KEY_PLACE} It has 24 characters, a colon, and 64 more. The Content API key is a different one.`,
    ),
  ],
  instance: "required",
  place: "/ghost/#/settings/integrations",
  renewal: null,
  connect,
};

async function connect(input: ConnectInput, io: ConnectIo): Promise<Connected> {
  const site = readSite(input, io);
  const adminKey = input.secrets["adminKey"] ?? "";
  if (!ADMIN_KEY.test(adminKey))
    throw new AppError("invalid", `adminKey: is not an Admin API key. ${KEY_PLACE} Copy all of it.`);
  const told = await explaining(site, () => callWith(io, { server: site }, { path: "/site/" }, Site));
  await explaining(site, () =>
    callWith(io, { server: site, secrets: { adminKey } }, { path: "/posts/", query: ONE }, z.looseObject({})),
  );
  const { title, url, icon, logo, version } = told.site;
  const major = Number.parseInt(version, 10);
  if (major < 5)
    throw new AppError("invalid", `instanceUrl: the site runs Ghost ${version}. It needs Ghost 5 or newer.`);
  return oneChannel({
    platformAccountId: withoutTrailing(url, "/"),
    name: input.name ?? (title || new URL(url).host),
    handle: new URL(url).host,
    profileUrl: url,
    avatarUrl: icon ?? logo ?? null,
    settings: { instanceUrl: site },
    secrets: { adminKey },
  });
}

/** People give the address of the site, of its administration, or of its API. */
function readSite({ instanceUrl }: ConnectInput, io: ConnectIo): string {
  const given = instanceUrl ?? io.setting("BASE_URL");
  if (given !== null) return given.replace(/\/ghost(?:\/.*)?$/s, "");
  throw new AppError(
    "invalid",
    "instanceUrl: is required. Give the site's address, for example https://blog.example.",
  );
}

/** Throws `invalid` naming the field that the site objects to. */
async function explaining<T>(site: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    if (!(cause instanceof PlatformFault) || cause.kind === "rate" || cause.kind === "setup") throw cause;
    const unreached = explainUnreached(cause);
    if (unreached !== null) throw unreached;
    const { host } = new URL(site);
    const { httpStatus } = cause;
    if (cause.kind === "auth" && (httpStatus === null || httpStatus >= 400))
      throw new AppError("invalid", `adminKey: ${host} does not know this key. ${KEY_PLACE}`, { cause });
    throw new AppError(
      cause.kind === "rejected" || cause.kind === "auth" ? "invalid" : "unavailable",
      `instanceUrl: ${host} did not answer as a Ghost site does. Give the API URL that the integration shows, or try again later.`,
      { cause },
    );
  }
}

/** Articles on a Ghost site, of any host; Ghost 5 and 6. */
export default definePlatform({
  name: "ghost",
  title: "Ghost",
  docs: "https://docs.ghost.org/admin-api",
  capabilities: {
    media: MEDIA,
    caption: { maxLength: 100_000, unit: "characters" },
    scheduling: "platform",
    // Nearer than a few minutes it lies there as a draft, and is published at its time.
    leadMinutes: { min: 0, default: 0, max: (365 * DAY) / MINUTE },
    thumbnail: { set: true, replaceAfterPublish: true },
    editPublished: { fields: EDITABLE_FIELDS },
    analytics: { account: ["followers"], post: ["clicks"] },
    reconciles: "list",
  },
  metadata: GhostMetadata,
  connect: [KEY],
  choices: { newsletter: newsletters, authors },
  check,
  preview: ({ caption, metadata: { format } }) =>
    format === "html" ? { body: textOfHtml(caption ?? "") } : shownThere(caption, format),
  inspect,
  publish,
  edit,
  setThumbnail,
  insights,
  analytics,
  remove,
});
