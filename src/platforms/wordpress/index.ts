import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import type { Connected, ConnectIo, RedirectWay, Secrets, SecretsWay } from "../../ports/connect.ts";
import { definePlatform, type Inspection } from "../../ports/platform.ts";
import type { PlatformIo } from "../../ports/platform-io.ts";
import { oneChannel, secretField, textField } from "../shared/connect.ts";
import { askOrNull, explaining, requireServer } from "../shared/servers.ts";
import { askWith, ask, TITLE } from "./api.ts";
import { WebAddress } from "../../ports/platform-values.ts";
import type { StatedCapabilities } from "../../domain/accounts/capabilities.ts";
import { edit, EDITABLE, insights, remove, setThumbnail } from "./live.ts";
import { MEDIA, publish } from "./publish.ts";
import { checkPost, CHOICES, WordpressMetadata } from "./metadata.ts";
import { shownAs } from "../shared/shown.ts";
import { textOfHtml } from "../../domain/text/html-text.ts";

const PLACE =
  "On the site, under Users, Profile, Application Passwords, give a name and press Add New Application Password.";

const Site = z.looseObject({
  name: z.string().max(500),
  home: WebAddress,
  namespaces: z.array(z.string()).refine((all) => all.includes("wp/v2")),
  // A list, and empty, where the site offers none.
  authentication: z
    .looseObject({
      "application-passwords": z.looseObject({ endpoints: z.looseObject({ authorization: z.url() }) }),
    })
    .nullable()
    .catch(null),
});
type Site = z.infer<typeof Site> & { readonly server: string; readonly root: string };

/** With pretty permalinks and without them. Throws `invalid` and `unavailable`. */
async function findSite(given: string | null, io: ConnectIo): Promise<Site> {
  const server = requireServer(given, io, { title: TITLE, example: "https://blog.example" });
  for (const root of [`${server}/wp-json`, `${server}/?rest_route=`]) {
    const url = `${root}/${root.includes("?") ? "&" : "?"}_fields=name,home,namespaces,authentication`;
    const site = await explaining(server, REFUSED, () => askOrNull(io, url, Site));
    if (site !== null) return { ...site, server, root };
  }
  throw new AppError(
    "invalid",
    `instanceUrl: ${new URL(server).host} did not answer as a WordPress site does. Give the address of its front page, as browsers show it. The REST API must be switched on.`,
  );
}

const REFUSED = { title: TITLE, secret: { field: "appPassword", help: PLACE } };

const User = z.looseObject({
  id: z.int(),
  name: z.string().catch(""),
  username: z.string().catch(""),
  link: z.string().catch(""),
  avatar_urls: z.record(z.string(), z.string()).catch({}),
  capabilities: z.record(z.string(), z.unknown()).catch({}),
});
type User = z.infer<typeof User>;

const ME = {
  path: "/wp/v2/users/me",
  query: { context: "edit", _fields: "id,name,username,link,avatar_urls,capabilities" },
} as const;

function avatarOf({ avatar_urls: urls }: User): string | null {
  return urls["96"] ?? Object.values(urls).at(-1) ?? null;
}

function problemOf({ capabilities }: User): string | null {
  const missing = ["publish_posts", "upload_files"].filter((name) => capabilities[name] !== true);
  return missing.length === 0
    ? null
    : `The user may not ${missing.join(" and ").replaceAll("_", " ")} on the site. Give them the role of an author or editor there.`;
}

/** The channel that these are good for. */
async function enter(site: Site, secrets: Secrets, io: ConnectIo): Promise<Connected> {
  const as = { server: site.root, secrets };
  const user = await explaining(site.server, REFUSED, () => askWith(io, as, ME, User));
  const problem = problemOf(user);
  return oneChannel({
    platformAccountId: String(user.id),
    idServer: site.server,
    name: site.name.trim() === "" ? new URL(site.server).host : site.name,
    handle: user.username || null,
    profileUrl: site.home,
    avatarUrl: avatarOf(user),
    settings: { instanceUrl: site.server, apiRoot: site.root },
    secrets,
    ...(problem === null ? {} : { problem }),
  });
}

const PASSWORD: SecretsWay = {
  kind: "secrets",
  name: "password",
  label: "Application password",
  instructions: `${PLACE} It belongs to the user's name, and can be revoked there at any time.`,
  instance: "required",
  place: "/wp-admin/profile.php#application-passwords-section",
  fields: [
    textField("username", "User name", "The name that you sign in to the site with."),
    secretField("appPassword", "Application password", PLACE),
  ],
  renewal: null,
  async connect(input, io) {
    const { username = "", appPassword = "" } = input.secrets;
    const site = await findSite(input.instanceUrl, io);
    // It is shown in groups.
    const secrets = { username, appPassword: appPassword.replace(/\s/g, "") };
    const { tokens, targets } = await enter(site, secrets, io);
    return { tokens, targets: targets.map((one) => ({ ...one, name: input.name ?? one.name })) };
  },
};

/** The same for every Posthorn: what the site's own list of passwords names it by. */
const APP_ID = "5f0c5a52-6f0e-4d0a-9c35-5d1a1c6c7f3e";

/** https://make.wordpress.org/core/2020/11/05/application-passwords-integration-guide/ */
const AUTHORIZE: RedirectWay = {
  kind: "redirect",
  name: "authorize",
  label: "Sign in on your site",
  instructions: "Sign in on the site and press Yes, I approve of this connection.",
  instance: "required",
  redirect: "https",
  async begin(_input, { instanceUrl, redirectUrl }, io) {
    const site = await findSite(instanceUrl, io);
    const page = site.authentication?.["application-passwords"].endpoints.authorization;
    if (page === undefined) throw new AppError("invalid", NO_PASSWORDS);
    const url = new URL(page);
    url.searchParams.set("app_name", "Posthorn");
    url.searchParams.set("app_id", APP_ID);
    url.searchParams.set("success_url", redirectUrl);
    return { url: url.href, keep: {} };
  },
  async finish({ user_login: username, password: appPassword }, { place }, io) {
    if (username === undefined || appPassword === undefined)
      throw new AppError("invalid", "The connection was not approved on the site. Start again to allow it.");
    return enter(await findSite(place.instanceUrl, io), { username, appPassword }, io);
  },
};

const NO_PASSWORDS =
  "instanceUrl: the site offers no application passwords. It needs https, and no plugin may switch them off.";

/** Who the user is now, and whether they may publish. */
async function inspect(io: PlatformIo): Promise<Inspection> {
  const user = await ask(io, ME, User);
  return { avatarUrl: avatarOf(user), problem: problemOf(user) };
}

const CAPABILITIES: StatedCapabilities = {
  media: { required: false, ...MEDIA },
  caption: { maxLength: null, unit: "characters" },
  scheduling: "platform",
  leadMinutes: { min: 0, default: 30, max: 365 * 24 * 60 },
  thumbnail: { set: true, replaceAfterPublish: true },
  editPublished: { fields: EDITABLE },
  analytics: { account: [], post: ["comments"] },
  reconciles: "client_key",
};

/** Sites of one's own, from WordPress 5.6 on. */
export default definePlatform({
  name: "wordpress",
  title: TITLE,
  docs: "https://developer.wordpress.org/rest-api/reference/posts/",
  capabilities: CAPABILITIES,
  metadata: WordpressMetadata,
  connect: [PASSWORD, AUTHORIZE],
  choices: CHOICES,
  check: checkPost,
  preview: ({ caption, metadata: { html, format } }) =>
    html === true ? { body: textOfHtml(caption ?? "") } : shownAs(format),
  inspect,
  publish,
  edit,
  setThumbnail,
  insights,
  remove,
});
