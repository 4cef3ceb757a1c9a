import { definePlatform } from "../ports/platform.ts";
import { PASSWORD, TOKEN } from "./matrix/connect.ts";
import { analytics, edit, insights, remove } from "./matrix/live.ts";
import { CAPABILITIES, capabilitiesOf, check, MatrixMetadata } from "./matrix/metadata.ts";
import { publish } from "./matrix/publish.ts";
import { inspect } from "./matrix/room.ts";

/** Rooms without encryption, on any server. */
export default definePlatform({
  name: "matrix",
  title: "Matrix",
  docs: "https://spec.matrix.org/latest/client-server-api",
  capabilities: CAPABILITIES,
  capabilitiesOf,
  metadata: MatrixMetadata,
  settings: [
    {
      name: "BASE_URL",
      meaning: "The server used where none is named",
      kind: "address",
      default: null,
      isRequired: false,
    },
  ],
  connect: [TOKEN, PASSWORD],
  check,
  inspect,
  publish,
  edit,
  insights,
  analytics,
  remove,
});
