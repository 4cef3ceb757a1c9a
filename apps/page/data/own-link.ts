import { textOf } from "../../shared/json.ts";
import { send } from "./wire.ts";

/** Where a link that was made here leads first: to the platform itself where that asks, else to our own page. */
export async function firstPageOf(link: string): Promise<string> {
  const { origin, pathname } = new URL(link);
  // A browser at another address of this server is not the one that the platform sends back.
  if (origin !== location.origin) return link;
  const token = pathname.slice(pathname.lastIndexOf("/") + 1);
  const answer = await send("/links/lead", { method: "POST", body: { token } }).catch(() => null);
  return textOf(answer?.["url"]) || link;
}
