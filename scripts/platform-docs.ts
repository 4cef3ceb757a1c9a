import { settingName, type PlatformSetting } from "../src/domain/accounts/platform-settings.ts";
import type { Capabilities } from "../src/domain/accounts/account.ts";
import type { PlatformCapabilities } from "../src/domain/accounts/capabilities.ts";
import { requiredSettings, settingsOf } from "../src/ports/platform-setup.ts";
import type { AnyPlatform } from "../src/ports/platform.ts";
import { code, table } from "./markdown.ts";

/** The platforms' names as the README lists them. `folder` is where their guides are, as seen from there. */
export function platformNames(platforms: readonly AnyPlatform[], folder: string): string {
  return `${platforms.map(({ name, title }) => `[${title}](${folder}/${name}.md)`).join(" · ")}.`;
}

/** Everything that capabilities tell, side by side. */
export function platformsPage(platforms: readonly AnyPlatform[]): string {
  const rows = platforms.map((platform) => {
    const { capabilities } = platform;
    const { thumbnail, analytics } = capabilities;
    const thumbnails = [
      ...(thumbnail.set ? ["with the post"] : []),
      ...(thumbnail.replaceAfterPublish ? ["when live"] : []),
    ];
    const numbers = [
      ...(capabilities.analytics.post.length === 0 ? [] : ["of posts"]),
      ...(analytics.account.length > 0 ? ["of the channel"] : []),
    ];
    return [
      nameOf(platform, "platforms"),
      mediaOf(capabilities),
      captionOf(capabilities),
      SCHEDULING[capabilities.scheduling],
      code(capabilities.editPublished.fields) || "nothing",
      thumbnails.join(", ") || "none",
      numbers.join(", ") || "none",
      SETTLED_BY[capabilities.reconciles],
      registrationOf(platform),
    ];
  });
  return [
    "# Platforms",
    "All that `posthorn call list_platforms` shows, side by side. With `provider` it shows every limit, and the JSON Schema of a post's `metadata`.",
    table(
      [
        "platform",
        "takes",
        "text",
        "before its time",
        "can be changed when live",
        "thumbnail",
        "numbers",
        "a doubtful outcome",
        "to be registered first",
      ],
      rows,
    ),
    "## Addresses and tags in a text",
    ADDRESSES,
    "## Registering an app",
    REGISTERING,
    "## Without a public https address",
    WITHOUT_HTTPS,
  ].join("\n\n");
}

const ADDRESSES = `X and Mastodon count every address in a text as one length. What an address is, each says by a grammar of its own, and
Posthorn counts by that: on both it ends where the Latin letters of its host end, so \`https://a.example.comです\` is an address and two
letters. X counts \`example.com\` without a scheme, too. Mastodon counts \`gemini:\`, \`ipfs:\`, \`xmpp:\` and \`magnet:\` so, and hosts whose last
part nobody knows (\`localhost\`) in full.

On Bluesky, tags end as in its own apps: \`#with,punctuation\` is one tag, without what ends the sentence, and \`$LEGO\` is a
cashtag. Posthorn differs in two: \`(#tag)\` is a tag, too, and Chinese and Japanese punctuation ends one.`;

const REGISTERING = `Where the last column says "an app of yours", somebody registers one there, once for everybody who uses this Posthorn:

- \`posthorn setup tiktok\` shows the steps and the addresses to copy, and asks for the app's id and secret. The platform
  is asked whether it takes them, and what it refuses is not stored. They hold at once, also for a server that runs. \`--client-id\` and \`--secret-stdin\` are for scripts, \`--forget\` takes them away. LinkedIn's second app is
  \`posthorn setup linkedin --way pages\`.
- \`PUT /api/v1/platforms/tiktok/app\` with \`{ "clientId": "…", "clientSecret": "…" }\` does the same, and \`DELETE\` forgets it. It
  takes an admin key of the default owner.
- Or set \`POSTHORN_<PLATFORM>_CLIENT_ID\` and \`POSTHORN_<PLATFORM>_CLIENT_SECRET\` in the environment or in posthorn.env. Where one of the two is
  set, what was entered does not count.

A channel that was connected with one app must be connected anew after another took its place.`;

const WITHOUT_HTTPS = `Instagram, Slack, Threads and a live app of Facebook send people back only to https addresses. TikTok takes \`http://localhost\`
with a port, too, for an app of the platform Desktop. A machine at home that has no https address can connect them all the same:

1. Register any https address of yours with the app, for example \`https://example.com/back\`. Nothing has to answer there.
2. Set \`POSTHORN_<PLATFORM>_REDIRECT_URL\` to exactly that address, and start Posthorn again.
3. Connect. After you agree, the browser ends at that address, with more text behind it.
4. Copy the whole address out of the browser's address bar, and paste it into the page that you began on, or into the
   terminal where \`posthorn connect\` waits.

Instagram, Threads, Google Business Profile and DEV also fetch media by themselves. A bucket (R2, S3 and the like, \`POSTHORN_S3_…\`)
does as well as a public \`POSTHORN_PUBLIC_URL\` for files that need no change. TikTok fetches photos, and only from \`POSTHORN_PUBLIC_URL\`.`;

export function settingTable(platform: AnyPlatform): string {
  return table(
    ["setting", "meaning", "default"],
    settingsOf(platform).map((setting) => [
      code([settingName(platform.name, setting.name)]),
      setting.meaning,
      defaultOf(setting),
    ]),
  );
}

function defaultOf({ default: usual, isRequired, kind }: PlatformSetting): string {
  if (usual === null) return isRequired ? "must be set" : "none";
  return kind === "text" || usual.includes("<") ? code([usual]) : usual;
}

function nameOf({ name, title }: AnyPlatform, folder: string): string {
  return `\`${name}\` [${title}](${folder}/${name}.md)`;
}

function registrationOf(platform: AnyPlatform): string {
  const needy = platform.connect.filter((way) => requiredSettings(platform, way).length > 0);
  if (needy.length === 0) return "nothing";
  return needy.length === platform.connect.length ? "an app of yours" : "nothing, or an app of yours";
}

const SETTLED_BY: Record<Capabilities["reconciles"], string> = {
  server_key: "cannot double: the receiver drops repeats of one id",
  client_key: "is looked up under the key chosen for it",
  session: "is asked of the upload session",
  container: "is asked of the prepared container",
  list: "is looked for in the account's posts",
  blind: "is left to a person (`resolve_post`)",
};

const SCHEDULING: Record<PlatformCapabilities["scheduling"], string> = {
  platform: "held there, and goes live by itself",
  ours: "held there, private",
  prepare: "prepared ahead",
  none: "sent at its time",
};

function mediaOf({ media }: PlatformCapabilities): string {
  const most = new Map<string, number>();
  for (const { kind, maxItems } of media.accepts) most.set(kind, Math.max(maxItems, most.get(kind) ?? 0));
  const kinds = [...most].map(([kind, maxItems]) => (maxItems === 1 ? `1 ${kind}` : `${maxItems} ${kind}s`));
  return media.required ? kinds.join(" or ") : ["text", ...kinds].join(", ");
}

export function captionOf({ caption: { maxLength, unit } }: PlatformCapabilities): string {
  return maxLength === null ? "any length" : `${maxLength} ${COUNTED_IN[unit]}`;
}

const COUNTED_IN: Record<Capabilities["caption"]["unit"], string> = {
  characters: "characters",
  graphemes: "graphemes",
  bytes: "bytes",
  utf16: "UTF-16 units",
  weighted: "characters, weighted",
};
