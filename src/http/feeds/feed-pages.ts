import { Router, type ErrorRequestHandler, type Request, type RequestHandler, type Response } from "express";
import { AppError } from "../../domain/errors.ts";
import { guestCall, type AppContext } from "../../services/context.ts";
import { openFeedMedia, readFeed, readFeedItem, type FeedPage } from "../../services/feeds/feed.ts";
import { methodNotAllowed } from "../errors.ts";
import { messageView } from "../pages/message-view.ts";
import { jsonFeed } from "./feed-json.ts";
import { rssFeed } from "./feed-rss.ts";
import { entryView, FEED_STYLES, feedView, type FeedView } from "./feed-views.ts";
import { sendPage } from "../pages/layout.ts";
import { readQuery } from "../query.ts";
import { sendBytes } from "../files/send-bytes.ts";

/** Readers ask often; an edit shows within the minute. */
const CACHE_CONTROL = "public, max-age=60";
const MEDIA_CACHE_CONTROL = "public, max-age=300";

/** Feeds are for everybody, readers on other sites included. */
const FOR_EVERYBODY = { "Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin" };

/**
 * The built-in feed as everybody reads it, without a key: `/feed/<account>.json`, `.rss` and `.html`, a page
 * for each entry and its media. Entries that wait for their time are not there.
 */
export function createFeedRouter(ctx: AppContext): Router {
  const router = Router({ caseSensitive: true });
  const others = methodNotAllowed(["get"]);
  router.route("/feed/:file").get(showFeed(ctx)).all(others);
  router.route("/feed/:accountId/:file").get(showEntry(ctx)).all(others);
  router.route("/feed/:accountId/media/:itemId/:position").get(showMedia(ctx)).all(others);
  router.use("/feed", showMissing);
  return router;
}

type Send = (
  response: Response,
  feed: FeedPage,
  page: { readonly publicUrl: string; readonly isFirst: boolean; readonly ctx: AppContext },
) => void;

const FORMATS: Readonly<Record<string, Send>> = {
  json: (response, feed, { publicUrl }) =>
    void response
      .set(FOR_EVERYBODY)
      .set({ "Content-Type": "application/feed+json; charset=utf-8", "Cache-Control": CACHE_CONTROL })
      .send(JSON.stringify(jsonFeed(feed, publicUrl))),
  rss: (response, feed, { publicUrl }) =>
    void response
      .set(FOR_EVERYBODY)
      .set({ "Content-Type": "application/rss+xml; charset=utf-8", "Cache-Control": CACHE_CONTROL })
      .send(rssFeed(feed, publicUrl)),
  html: (response, feed, { isFirst, ctx }) =>
    showView(response, feedView(feed, { timezone: ctx.settings.timezone, isFirst })),
};

function showFeed(ctx: AppContext): RequestHandler<{ file: string }> {
  return async (request, response) => {
    const [, accountId = "", format = ""] = /^(\w+)\.([a-z]+)$/.exec(request.params.file) ?? [];
    const send = Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
    if (send === undefined) throw nothingHere();
    const before = readBefore(request);
    const feed = await readFeed(guestCall(ctx), { accountId, before });
    send(response, feed, { publicUrl: await ctx.publicUrl(), isFirst: before === null, ctx });
  };
}

function readBefore(request: Request<{ file: string }>): string | null {
  const { before } = readQuery(request, { before: "text" });
  return typeof before === "string" ? before : null;
}

function showEntry(ctx: AppContext): RequestHandler<{ accountId: string; file: string }> {
  return async (request, response) => {
    const [, id] = /^(\w+)\.html$/.exec(request.params.file) ?? [];
    if (id === undefined) throw nothingHere();
    const { title, item } = await readFeedItem(guestCall(ctx), {
      accountId: request.params.accountId,
      itemId: id,
    });
    showView(response, entryView(title, item, ctx.settings.timezone));
  };
}

function showView(response: Response, view: FeedView): void {
  sendPage(response, {
    ...view,
    styles: FEED_STYLES,
    allow: { "img-src": ["'self'", "data:"], "media-src": ["'self'"] },
    cacheControl: CACHE_CONTROL,
    isPublic: true,
  });
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
      "X-Content-Type-Options": "nosniff",
      "Cache-Control": MEDIA_CACHE_CONTROL,
    });
    sendBytes(
      { request, response, log: ctx.log, clock: ctx.clock },
      { sizeBytes: media.sizeBytes, etag: `"${media.sha256}"`, open },
    );
  };
}

/** Whoever asks for a page gets a page. */
const showMissing: ErrorRequestHandler = (error: unknown, request, response, next) => {
  const isMissing = error instanceof AppError && error.kind === "not_found";
  if (!isMissing || !request.path.endsWith(".html")) return next(error);
  sendPage(response, {
    status: 404,
    ...messageView("There is nothing here", "Perhaps it was taken down, or a part of the address was lost."),
  });
};

function nothingHere(): AppError {
  return new AppError(
    "not_found",
    "There is nothing at this address. A feed is at /feed/<account id>.json, .rss or .html.",
  );
}
