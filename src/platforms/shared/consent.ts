import type { OAuthWay } from "../../ports/connect.ts";
import { PlatformFault } from "../../ports/platform-io.ts";
import type { GateFacts } from "../../ports/platform.ts";

/** How most platforms ask for a consent; what one does otherwise stands behind it. */
export const USUAL_CONSENT = {
  kind: "oauth",
  scopeSeparator: " ",
  pkce: "none",
  clientAuth: "body",
  redirect: "any",
  instance: "no",
} as const satisfies Partial<OAuthWay>;

/** The name of each way that asks for more. */
export const MORE = "more";

interface More {
  /** The platform whose app the way uses. */
  readonly appOf: string;
  /** What else is possible then, after "with": "places". */
  readonly label: string;
  readonly scopes: readonly string[];
}

/**
 * The same consent with more permissions. It is a way of its own, which a person takes who wants them: a platform
 * refuses the whole consent to an app that lacks one of them.
 */
export function askingMore(way: OAuthWay, { appOf, label, scopes }: More): OAuthWay {
  return {
    ...way,
    name: MORE,
    label: `${way.label}, with ${label}`,
    appOf,
    scopesPrefix: "MORE_",
    scopes: [...way.scopes, ...scopes],
    setup: way.setup && {
      url: way.setup.url,
      steps: [
        `Set the app up as for "${way.label}".`,
        `Among its permissions, add these, too: ${scopes.join(" ")}`,
      ],
      warnings: [
        `Only for ${label}. For all else "${way.label}" is enough, and its app needs no permission more.`,
        "Where the app lacks one of the permissions, the whole sign-in is refused.",
      ],
    },
  };
}

/** Whether the person allowed one of them. Who connected before scopes were kept was asked for all. */
export function hasScope(...wanted: readonly string[]): (at: Pick<GateFacts, "account">) => boolean {
  return ({ account: { scopes } }) => scopes.length === 0 || wanted.some((scope) => scopes.includes(scope));
}

/** Throws where the person allowed none of them: what the channel may not have is not asked for. */
export function needScope(at: Pick<GateFacts, "account">, scopes: readonly string[], sentence: string): void {
  if (!hasScope(...scopes)(at)) throw new PlatformFault("rejected", sentence);
}
