import { Router, type RequestHandler } from "express";
import { AppError } from "../../domain/errors.ts";
import { readCalendarFeed } from "../../services/feeds/calendar-link.ts";
import { guestCall, type AppContext } from "../../services/context.ts";
import { methodNotAllowed } from "../errors.ts";
import { limitVisitors } from "../access/auth.ts";
import { toICalendar } from "./icalendar.ts";
import { readQuery } from "../query.ts";

/**
 * `/calendar/<token>.ics`: an owner's plan for calendar applications, which can bring no key but the address
 * itself.
 */
export function createCalendarRouter(ctx: AppContext): Router {
  const router = Router({ caseSensitive: true });
  router
    .route("/calendar/:file")
    .get(limitVisitors(ctx), showCalendar(ctx))
    .all(methodNotAllowed(["get"]));
  return router;
}

function showCalendar(ctx: AppContext): RequestHandler<{ file: string }> {
  return async (request, response) => {
    readQuery(request, {});
    const [, token] = /^([\w-]{1,128})\.ics$/.exec(request.params.file) ?? [];
    if (token === undefined)
      throw new AppError("not_found", "There is no calendar at this address, or not any more.");
    const feed = await readCalendarFeed(guestCall(ctx), token);
    response.set({
      "Content-Type": "text/calendar; charset=utf-8",
      "Content-Disposition": 'inline; filename="posthorn.ics"',
      "Cache-Control": "private, no-cache",
      "Last-Modified": new Date(feed.changedAt).toUTCString(),
      "Referrer-Policy": "no-referrer",
      "X-Robots-Tag": "noindex",
    });
    response.send(toICalendar(feed));
  };
}
