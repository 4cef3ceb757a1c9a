import type { Request, Response } from "express";
import { hashToken, LINK_LIFE_MS } from "../../services/accounts/connecting/connect-link.ts";
import type { AppContext } from "../../services/context.ts";

/** One each, so that two links can be followed in one browser. A hash: the state itself stands nowhere. */
const nameOf = (stateHash: string): string => `posthorn_${stateHash}`;

/**
 * Marks the browser that is led on to a platform, so that it is known when it comes back. Only where the button
 * on our own page was pressed: another site's page can send the same form from a person's browser.
 */
export async function markBrowser(
  ctx: AppContext,
  { request, response, stateHash }: { request: Pick<Request, "get">; response: Response; stateHash: string },
): Promise<void> {
  if (request.get("sec-fetch-site") !== "same-origin") return;
  const { protocol, pathname } = new URL(await ctx.publicUrl());
  response.cookie(nameOf(stateHash), "1", {
    httpOnly: true,
    // A person comes back by a link of the platform's.
    sameSite: "lax",
    secure: protocol === "https:",
    path: `${pathname.replace(/\/$/, "")}/connect`,
    maxAge: LINK_LIFE_MS,
  });
}

/** Whether this browser was led on with this state. */
export function isMarked(request: Pick<Request, "get">, state: string): boolean {
  const cookies = (request.get("cookie") ?? "").split("; ");
  return cookies.includes(`${nameOf(hashToken(state))}=1`);
}
