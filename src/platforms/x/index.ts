import { definePlatform } from "../../ports/platform.ts";
import { CAPABILITIES, capabilitiesOf } from "./capabilities.ts";
import { API } from "./api.ts";
import { KEYS, OAUTH } from "./connect.ts";
import { analytics, insights, inspect, remove } from "./live.ts";
import { XMetadata } from "./metadata.ts";
import { checkPost } from "./parts.ts";
import { publish } from "./publish.ts";
import { measure } from "./text.ts";

export default definePlatform({
  name: "x",
  title: "X",
  aliases: ["twitter"],
  docs: "https://docs.x.com/x-api/posts/create-post",
  capabilities: CAPABILITIES,
  capabilitiesOf,
  metadata: XMetadata,
  settings: [
    { name: "BASE_URL", meaning: "Where X's API is", kind: "address", default: API, isRequired: false },
    {
      name: "CLIENT_SECRET",
      meaning: "Secret of the app that you registered. A native app has none",
      kind: "secret",
      default: null,
      isRequired: false,
    },
  ],
  connect: [OAUTH, KEYS],
  check: checkPost,
  measure,
  inspect,
  publish,
  insights,
  analytics,
  remove,
});
