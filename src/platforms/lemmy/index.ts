import { definePlatform } from "../../ports/platform.ts";
import { TITLE } from "./api.ts";
import { inspect, PASSWORD } from "./connect.ts";
import { communities, edit, insights, remove, setThumbnail } from "./live.ts";
import { check, LemmyMetadata } from "./metadata.ts";
import { capabilitiesOf, publish } from "./publish.ts";
import { measure } from "./text.ts";
import { SERVER_SETTING } from "../shared/servers.ts";

/** Lemmy 0.19 and 1.0. */
export default definePlatform({
  name: "lemmy",
  title: TITLE,
  docs: "https://join-lemmy.org/docs/contributors/04-api.html",
  capabilities: capabilitiesOf({ limits: {} }),
  capabilitiesOf,
  metadata: LemmyMetadata,
  settings: [SERVER_SETTING],
  connect: [PASSWORD],
  choices: { community: communities },
  check,
  measure,
  inspect,
  publish,
  edit,
  setThumbnail,
  insights,
  remove,
});
