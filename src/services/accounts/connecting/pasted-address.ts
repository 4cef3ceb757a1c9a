import { AppError } from "../../../domain/errors.ts";
import type { GuestCall } from "../../context.ts";
import { readLink, type LinkRef } from "./connect-link.ts";
import { openConnection, type OpenedConnection } from "./connect-page.ts";
import { comeBack, type RefusedStart } from "./consent.ts";
import type { ConnectedLink } from "./settle-link.ts";
import { hasConsent, toStart } from "./start-page.ts";

/** The address that a browser ended at, pasted: as if it had come back by itself. */
export async function pasteAddress(
  call: GuestCall,
  { address, ...ref }: LinkRef & { readonly address: string },
): Promise<ConnectedLink | RefusedStart | OpenedConnection> {
  const { ctx } = call;
  const link = await readLink(ctx, ref);
  if (link.state === "closed" || !hasConsent(link.target)) return openConnection(call, ref);
  const done = await comeBack(call, { answer: readAnswer(address), onlyOf: ref.token, isBegunHere: true });
  if (done.state === "page") return openConnection(call, { token: done.token });
  if (done.state !== "closed" || done.reason !== "foreign") return done;
  const error = new AppError(
    "invalid",
    `address: this is not what ${link.target.platform.title} sent you back to from this page's last try. Copy the whole address out of the browser's address bar, with everything after the question mark.`,
  );
  return { state: "refused", start: await toStart(ctx, { ...link, target: link.target }), error };
}

/** The parameters of an address, or of the part of it after the question mark; the first of each name. */
export function readAnswer(address: string): Record<string, string> {
  const text = address.trim().replace(/#.*$/s, "");
  const query = text.includes("?") ? text.slice(text.indexOf("?") + 1) : text;
  const answer: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(query)) answer[name] ??= value;
  return answer;
}
