import { Router, type RequestHandler } from "express";
import { AppError } from "../../domain/errors.ts";
import { openContent } from "../../files/files.ts";
import { findPicture } from "../../files/pictures.ts";
import { type AppContext, plainCall } from "../../context.ts";
import { callerOf, type Guard } from "../access/auth.ts";
import { untilGone } from "../api/routers.ts";
import { methodNotAllowed } from "../errors.ts";
import { sendBytes } from "../files/send-bytes.ts";
import { readQuery } from "../query.ts";

/** What the page shows of media: small pictures, and own files as they are. */
export function createPicturesRouter(ctx: AppContext, guard: Guard): Router {
  const router = Router({ caseSensitive: true });
  const read = [...guard.identify, guard.permit("read", "see files"), guard.limit];
  router
    .route("/pictures")
    .get(read, sendPicture(ctx))
    .all(read, methodNotAllowed(["GET"]));
  router
    .route("/files/:id/content")
    .get(read, sendContent(ctx))
    .all(read, methodNotAllowed(["GET"]));
  return router;
}

/** Whatever a file holds, a browser that opens it by itself runs nothing of it. */
const NOTHING_RUNS = "sandbox; default-src 'none'";

/** Who signs in after them in the same browser sees what they may see themselves. */
const KEPT_FOR_ONE = { Vary: "Cookie" };

function sendPicture(ctx: AppContext): RequestHandler {
  return async (request, response) => {
    const { url, size } = readQuery(request, { url: "text", size: "integer" });
    if (typeof url !== "string")
      throw new AppError("invalid", "url: is missing. Give the address of a file or of a post's media.");
    const call = plainCall(ctx, callerOf(response), untilGone(response));
    const picture = await findPicture(call, { url, ...(typeof size === "number" ? { size } : {}) });
    const headers = {
      "Content-Security-Policy": NOTHING_RUNS,
      ...KEPT_FOR_ONE,
      "Cache-Control": "private, max-age=86400",
      ...(picture.etag === null ? {} : { ETag: picture.etag }),
    };
    // Before the work: the browser has it already.
    if (picture.etag !== null && request.headers["if-none-match"] === picture.etag)
      return void response.status(304).set(headers).end();
    const { mimeType, bytes } = await picture.make();
    response.set({ ...headers, "Content-Type": mimeType }).send(bytes);
  };
}

/** Types that a browser shows and that hold no program. Stored files have no other (`formats.ts`). */
const SHOWN = /^(image|video|audio)\/[\w.-]+$/;

function sendContent(ctx: AppContext): RequestHandler<{ id: string }> {
  return async (request, response) => {
    readQuery(request, {});
    const file = await openContent(plainCall(ctx, callerOf(response)), { id: request.params.id });
    response.attachment(file.name);
    const disposition = String(response.get("Content-Disposition"));
    response.set({
      "Content-Type": SHOWN.test(file.mimeType) ? file.mimeType : "application/octet-stream",
      "Content-Disposition": SHOWN.test(file.mimeType)
        ? disposition.replace(/^attachment/, "inline")
        : disposition,
      "Content-Security-Policy": NOTHING_RUNS,
      ...KEPT_FOR_ONE,
      "Cache-Control": "private, max-age=300",
      "Last-Modified": new Date(file.updatedAt).toUTCString(),
    });
    const etag = file.sha256 === null ? null : `"${file.sha256}"`;
    sendBytes({ request, response, log: ctx.log }, { sizeBytes: file.sizeBytes, etag, open: file.read });
  };
}
