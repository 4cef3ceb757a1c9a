import { Router, type ErrorRequestHandler, type Request, type RequestHandler } from "express";
import { AppError } from "../../domain/errors.ts";
import { guestCall, type AppContext } from "../../services/context.ts";
import {
  openFeedMedia,
  readFeed,
  readFeedItem,
  versionOfFeeds,
  type FeedPage,
} from "../../services/feeds/feed.ts";
import { limitVisitors } from "../access/auth.ts";
import { methodNotAllowed } from "../errors.ts";
import { messageView } from "../pages/message-view.ts";
import { jsonFeed } from "./feed-json.ts";
import { rssFeed } from "./feed-rss.ts";
import { entryView, FEED_STYLES, feedView, type FeedView } from "./feed-views.ts";
import { KeptPages, type MadePage } from "../pages/kept-pages.ts";
import { makePage, sendPage } from "../pages/layout.ts";
import { readQuery } from "../query.ts";
import { sendBytes } from "../files/send-bytes.ts";

/** Readers ask often; an edit shows within the minute. */
const CACHE_CONTROL = "public, max-age=60";
const MEDIA_CACHE_CONTROL = "public, max-age=300";

/** A page has many pictures, and a film is taken in many parts. */
const MAX_MEDIA_VISITS = 6_000;

/** Feeds are for everybody, readers on other sites included. */
const FOR_EVERYBODY = { "Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin" };

/**
 * The built-in feed as everybody reads it, without a key: `/feed/<account>.json`, `.rss` and `.html`, a page
 * for each entry and its media. Entries that wait for their time are not there.
 */
export function createFeedRouter(ctx: AppContext): Router {
  const router = Router({ caseSensitive: true });
  const others = methodNotAllowed(["get"]);
  const pages = new KeptPages();
  const limit = limitVisitors(ctx);
  router.route("/feed/:file").get(limit, showFeed(ctx, pages)).all(others);
  router.route("/feed/:accountId/:file").get(limit, showEntry(ctx, pages)).all(others);
  router
    .route("/feed/:accountId/media/:itemId/:position")
    .get(limitVisitors(ctx, MAX_MEDIA_VISITS), showMedia(ctx))
    .all(others);
  router.use("/feed", showMissing);
  return router;
}

interface PageOf {
  readonly publicUrl: string;
  readonly isFirst: boolean;
  readonly timezone: string;
}

const FORMATS: Readonly<Record<string, (feed: FeedPage, page: PageOf) => MadePage>> = {
  json: (feed, { publicUrl }) => ({
    headers: {
      ...FOR_EVERYBODY,
      "Content-Type": "application/feed+json; charset=utf-8",
      "Cache-Control": CACHE_CONTROL,
    },
    body: JSON.stringify(jsonFeed(feed, publicUrl)),
  }),
  rss: (feed, { publicUrl }) => ({
    headers: {
      ...FOR_EVERYBODY,
      "Content-Type": "application/rss+xml; charset=utf-8",
      "Cache-Control": CACHE_CONTROL,
    },
    body: rssFeed(feed, publicUrl),
  }),
  html: (feed, page) => makeView(feedView(feed, page)),
};

function showFeed(ctx: AppContext, pages: KeptPages): RequestHandler<{ file: string }> {
  return async (request, response) => {
    const [, accountId = "", format = ""] = /^(\w+)\.([a-z]+)$/.exec(request.params.file) ?? [];
    const make = Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
    if (make === undefined) throw nothingHere();
    const before = readBefore(request);
    const page = {
      publicUrl: await ctx.publicUrl(),
      isFirst: before === null,
      timezone: ctx.settings.timezone,
    };
    const place = {
      address: JSON.stringify([format, accountId, before, page]),
      version: await versionOfFeeds(guestCall(ctx)),
    };
    if (pages.sendAgain({ request, response }, place)) return;
    const feed = await readFeed(guestCall(ctx), { accountId, before });
    const content = [format, feed, page];
    pages.send({ request, response }, { content, place, make: () => make(feed, page) });
  };
}

function readBefore(request: Request<{ file: string }>): string | null {
  const { before } = readQuery(request, { before: "text" });
  return typeof before === "string" ? before : null;
}

function showEntry(ctx: AppContext, pages: KeptPages): RequestHandler<{ accountId: string; file: string }> {
  return async (request, response) => {
    const [, id] = /^(\w+)\.html$/.exec(request.params.file) ?? [];
    if (id === undefined) throw nothingHere();
    const { timezone } = ctx.settings;
    const entry = await readFeedItem(guestCall(ctx), {
      accountId: request.params.accountId,
      itemId: id,
    });
    pages.send(
      { request, response },
      { content: [entry, timezone], make: () => makeView(entryView(entry.title, entry.item, timezone)) },
    );
  };
}

function makeView(view: FeedView): MadePage {
  return makePage({
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
