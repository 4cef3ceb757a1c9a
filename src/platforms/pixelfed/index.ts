import * as z from "zod";
import type { StatedCapabilities } from "../../domain/accounts/capabilities.ts";
import { commonMetadata } from "../../domain/posts/common-metadata.ts";
import { definePlatform } from "../../ports/platform.ts";
import type { PlatformAccount } from "../../ports/platform-io.ts";
import { tooLong } from "../shared/thread.ts";
import { analytics, insights, inspect, remove } from "../shared/mastodon/live.ts";
import { checkMedia, publish } from "../shared/mastodon/publish.ts";
import { oauthWay, tokenWay, type Servers } from "../shared/mastodon/connect.ts";
import { capabilitiesOf as capabilitiesOfServer, familyOf } from "../shared/mastodon/limits.ts";

const { altText, moreMedia, visibility, sensitive, spoilerText } = commonMetadata;

/** What a post on Pixelfed takes beside caption and media. */
const PixelfedMetadata = z.strictObject({
  altText,
  moreMedia: moreMedia.describe("Further pictures. The server sets how many (mostly 4 in all)."),
  visibility: visibility.describe(
    "Who sees it: public (default), unlisted (kept out of public timelines), or private (only followers).",
  ),
  sensitive: sensitive.describe("Shows the media only after a click."),
  spoilerText: spoilerText.describe("Content warning, with sensitive. At most 140 characters."),
});

const SERVERS: Servers = {
  title: "Pixelfed",
  example: "https://pixelfed.social",
  // It knows none that are narrower.
  scopes: ["read", "write"],
  tokenPlace:
    "On the server, under Settings, Applications, make a personal access token that may read and write.",
  tokenPath: "/settings/applications",
  software: "pixelfed",
  oauth: {},
};

const UNKNOWN = { limits: {}, settings: { software: "pixelfed" } };

/** The pictures' part of what Mastodon's API can do; a caption counts as it is written. */
function capabilitiesOf(account: Pick<PlatformAccount, "limits" | "settings">): StatedCapabilities {
  const { caption, ...server } = capabilitiesOfServer(account);
  return {
    ...server,
    caption: { maxLength: caption.maxLength, unit: "weighted" },
    thumbnail: { set: false, replaceAfterPublish: false },
    editPublished: { fields: [] },
    quotas: [{ name: "posts", max: 1_000, perMinutes: 1_440, from: "rolling", scope: "account" }],
  };
}

/** https://docs.pixelfed.org; where it differs from Mastodon's API is in shared/mastodon. */
export default definePlatform({
  name: "pixelfed",
  title: SERVERS.title,
  docs: "https://docs.pixelfed.org/technical-documentation/api",
  capabilities: capabilitiesOf(UNKNOWN),
  capabilitiesOf,
  metadata: PixelfedMetadata,
  connect: [oauthWay(SERVERS), tokenWay(SERVERS)],
  check: (post, at) => {
    const { sensitive: isSensitive, spoilerText: warning = "" } = post.metadata;
    const isUnseen = warning !== "" && isSensitive !== true;
    return {
      errors: [...checkMedia(post, at), ...tooLong("metadata.spoilerText", [...warning].length, 140)],
      warnings: isUnseen ? ["metadata.spoilerText: Pixelfed shows it only with sensitive: true."] : [],
    };
  },
  // Unless it hides the media, no one sees the warning.
  preview: ({ metadata }) => (metadata.sensitive === true ? {} : { note: null }),
  measure: (text) => [...familyOf(UNKNOWN).write(text)].length,
  inspect,
  publish,
  insights,
  analytics,
  remove,
});
