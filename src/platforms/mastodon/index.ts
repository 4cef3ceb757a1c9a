import { mentionsByAddress } from "../../domain/posts/mentions.ts";
import { definePlatform } from "../../ports/platform.ts";
import { analytics, edit, insights, inspect, people, remove, setThumbnail } from "../shared/mastodon/live.ts";
import { check, measure, publish, countedOf } from "../shared/mastodon/publish.ts";
import { oauthWay, revoke, tokenWay, type Servers } from "../shared/mastodon/connect.ts";
import { CAPABILITIES, capabilitiesOf } from "../shared/mastodon/limits.ts";
import { MastodonMetadata } from "../shared/mastodon/api.ts";

const SCOPES = ["read:accounts", "read:statuses", "write:statuses", "write:media"] as const;

const SERVERS: Servers = {
  title: "Mastodon",
  example: "https://mastodon.social",
  scopes: SCOPES,
  tokenPlace:
    "On the server, under Preferences, Development, make an application with the scopes " +
    `${SCOPES.join(", ")}. Its page shows the access token.`,
  tokenPath: "/settings/applications",
  software: null,
  // So that a person with several accounts on the server can choose.
  oauth: { authorizeParams: { force_login: "true" }, revoke },
};

/** Every server that speaks Mastodon's API; what each is and takes, `inspect` asks it. */
export default definePlatform({
  name: "mastodon",
  title: SERVERS.title,
  aliases: ["toot", "fediverse"],
  docs: "https://docs.joinmastodon.org/methods/statuses",
  capabilities: CAPABILITIES,
  capabilitiesOf,
  metadata: MastodonMetadata,
  connect: [oauthWay(SERVERS), tokenWay(SERVERS)],
  choices: { mention: people },
  check,
  preview: ({ metadata }) => ({
    write: mentionsByAddress,
    counted: (text) => countedOf(metadata, text),
  }),
  measure,
  inspect,
  publish,
  edit,
  setThumbnail,
  insights,
  analytics,
  remove,
});
