import { definePlatform } from "../../ports/platform.ts";
import { TITLE } from "./api.ts";
import { MIAUTH, TOKEN } from "./connect.ts";
import { capabilitiesOf, inspect } from "./limits.ts";
import { analytics, edit, insights, remove } from "./live.ts";
import { check, MisskeyMetadata } from "./metadata.ts";
import { publish } from "./publish.ts";
import { measure } from "./text.ts";
import { SERVER_SETTING } from "../shared/servers.ts";

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
