import { definePlatform } from "../ports/platform.ts";
import { analytics } from "./mastodon/analytics.ts";
import { TITLE } from "./mastodon/api.ts";
import { check, measure } from "./mastodon/check.ts";
import { OAUTH, TOKEN } from "./mastodon/connect.ts";
import { inspect } from "./mastodon/inspect.ts";
import { CAPABILITIES, capabilitiesOf } from "./mastodon/limits.ts";
import { edit, insights, remove, setThumbnail } from "./mastodon/live.ts";
import { MastodonMetadata } from "./mastodon/metadata.ts";
import { publish } from "./mastodon/publish.ts";
import { SERVER_SETTING } from "./shared/servers.ts";

/** Every server that speaks Mastodon's API; what each is and takes, `inspect` asks it. */
export default definePlatform({
  name: "mastodon",
  title: TITLE,
  docs: "https://docs.joinmastodon.org/methods/statuses",
  capabilities: CAPABILITIES,
  capabilitiesOf,
  metadata: MastodonMetadata,
  settings: [SERVER_SETTING],
  connect: [OAUTH, TOKEN],
  check,
  measure,
  inspect,
  publish,
  edit,
  setThumbnail,
  insights,
  analytics,
  remove,
});
