import { definePlatform } from "../ports/platform.ts";
import { TITLE } from "./misskey/api.ts";
import { MIAUTH, TOKEN } from "./misskey/connect.ts";
import { capabilitiesOf, inspect } from "./misskey/limits.ts";
import { analytics, edit, insights, remove } from "./misskey/live.ts";
import { check, MisskeyMetadata } from "./misskey/metadata.ts";
import { publish } from "./misskey/publish.ts";
import { measure } from "./misskey/text.ts";
import { SERVER_SETTING } from "./shared/servers.ts";

/** Misskey and the servers that are made of it (Sharkey, CherryPick). */
export default definePlatform({
  name: "misskey",
  title: TITLE,
  docs: "https://misskey-hub.net/en/docs/for-developers/api",
  capabilities: capabilitiesOf({ limits: {} }),
  capabilitiesOf,
  metadata: MisskeyMetadata,
  settings: [SERVER_SETTING],
  connect: [MIAUTH, TOKEN],
  check,
  measure,
  inspect,
  publish,
  edit,
  insights,
  analytics,
  remove,
});
