import type { KeyWatch } from "./key-watch.ts";
import type { OpenCalls } from "../calls/open-calls.ts";

/** What the transports over HTTP have in common. */
export interface Shared {
  readonly openCalls: OpenCalls;
  readonly keys: KeyWatch;
}
