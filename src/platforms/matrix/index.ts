import { definePlatform } from "../../ports/platform.ts";
import { PASSWORD, TOKEN } from "./connect.ts";
import { analytics, edit, insights, remove } from "./live.ts";
import { CAPABILITIES, capabilitiesOf, check, MatrixMetadata } from "./metadata.ts";
import { publish } from "./publish.ts";
import { inspect } from "./api.ts";

/** Rooms without encryption, on any server. */
export default definePlatform({
  name: "matrix",
  title: "Matrix",
  docs: "https://spec.matrix.org/latest/client-server-api",
  capabilities: CAPABILITIES,
  capabilitiesOf,
  metadata: MatrixMetadata,
  connect: [TOKEN, PASSWORD],
  check,
  inspect,
  publish,
  edit,
  insights,
  analytics,
  remove,
});
