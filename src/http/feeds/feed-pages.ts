import { Router, type ErrorRequestHandler, type RequestHandler, type Response } from "express";
import { AppError } from "../../domain/errors.ts";
import { guestCall, type AppContext } from "../../context.ts";
import { openFeedMedia, readFeed, readFeedItem } from "../../reporting/feeds/feed.ts";
import { limitVisitors } from "../access/auth.ts";
import { methodNotAllowed } from "../errors.ts";
import { jsonFeed, rssFeed } from "./feed-json.ts";
import { entryView, feedView } from "./feed-views.ts";
import { messageView, sendPage, type View } from "../pages/layout.ts";
import { readQuery } from "../query.ts";
import { sendBytes } from "../files/send-bytes.ts";

/** Readers ask often; an edit shows within the minute. */
const CACHE_CONTROL = "public, max-age=60";
const MEDIA_CACHE_CONTROL = "public, max-age=300";

/** A page has many pictures, and a film is taken in many parts. */
const MAX_MEDIA_VISITS = 6_000;

/** Feeds are for everybody, readers on other sites included. */
const FOR_EVERYBODY = { "Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin" };

/** The built-in feed for all: `/feed/<account>.json`, `.rss` and `.html`, pages of entries, media. */
export function createFeedRouter(ctx: AppContext): Router {
  const router = Router({ caseSensitive: true });
  const others = methodNotAllowed(["get"]);
  const limit = limitVisitors(ctx);
  router.route("/feed/:file").get(limit, showFeed(ctx)).all(others);
  router.route("/feed/:accountId/:file").get(limit, showEntry(ctx)).all(others);
  router
    .route("/feed/:accountId/media/:itemId/:position")
    .get(limitVisitors(ctx, MAX_MEDIA_VISITS), showMedia(ctx))
    .all(others);
  router.use("/feed", showMissing);
  return router;
}

function showFeed(ctx: AppContext): RequestHandler<{ file: string }> {
  return async (request, response) => {
    const [, accountId = "", format] = /^(\w+)\.(json|rss|html)$/.exec(request.params.file) ?? [];
    if (format === undefined) throw nothingHere();
    const query = readQuery(request, { before: "text" });
    const before = typeof query["before"] === "string" ? query["before"] : null;
    const feed = await readFeed(guestCall(ctx), { accountId, before });
    if (format === "html") {
      const page = { isFirst: before === null, timezone: ctx.settings.timezone };
      return sendView(response, feedView(feed, page));
    }
    const publicUrl = await ctx.publicUrl();
    const [type, body] =
      format === "json"
        ? ["application/feed+json", JSON.stringify(jsonFeed(feed, publicUrl))]
        : ["application/rss+xml", rssFeed(feed, publicUrl)];
    response.set(FOR_EVERYBODY).set("Cache-Control", CACHE_CONTROL);
    response.type(`${type}; charset=utf-8`).send(body);
  };
}

function showEntry(ctx: AppContext): RequestHandler<{ accountId: string; file: string }> {
  return async (request, response) => {
    const [, id] = /^(\w+)\.html$/.exec(request.params.file) ?? [];
    if (id === undefined) throw nothingHere();
    const { accountId } = request.params;
    const { title, item } = await readFeedItem(guestCall(ctx), { accountId, itemId: id });
    sendView(response, entryView(title, item, ctx.settings.timezone));
  };
}

function sendView(response: Response, view: View): void {
  sendPage(response, view, { cacheControl: CACHE_CONTROL, isPublic: true });
}

function showMedia(ctx: AppContext): RequestHandler<{ accountId: string; itemId: string; position: string }> {
  return async (request, response) => {
    const { media, open } = await openFeedMedia(guestCall(ctx), request.params);
    response.set(FOR_EVERYBODY).set({
      "Content-Type": media.mimeType,
      "Content-Disposition": "inline",
      // Opened by itself it is a picture or a video, and nothing that could act as a page of ours.
      "Content-Security-Policy":
        "sandbox; default-src 'none'; media-src 'self'; img-src 'self'; style-src 'unsafe-inline'",
      "Cache-Control": MEDIA_CACHE_CONTROL,
    });
    const bytes = { sizeBytes: media.sizeBytes, etag: `"${media.sha256}"`, open };
    sendBytes({ request, response, log: ctx.log }, bytes);
  };
}

/** A missing page is answered with a page. */
const showMissing: ErrorRequestHandler = (error: unknown, request, response, next) => {
  const isMissing = error instanceof AppError && error.kind === "not_found";
  if (!isMissing || !request.path.endsWith(".html")) return next(error);
  const sentence = "Perhaps it was taken down, or a part of the address was lost.";
  sendPage(response, messageView("There is nothing here", sentence), { status: 404 });
};

function nothingHere(): AppError {
  return new AppError(
    "not_found",
    "There is nothing at this address. A feed is at /feed/<account id>.json, .rss or .html.",
  );
}
