import type { OAuthWay } from "../../ports/connect.ts";

/** How most platforms ask for a consent; what one does otherwise stands behind it. */
export const USUAL_CONSENT = {
  kind: "oauth",
  scopeSeparator: " ",
  pkce: "none",
  clientAuth: "body",
  redirect: "any",
  instance: "no",
} as const satisfies Partial<OAuthWay>;
