import express, {
  Router,
  type ErrorRequestHandler,
  type Request,
  type RequestHandler,
  type Response,
} from "express";
import { rateLimit } from "express-rate-limit";
import { INTERNAL_ERROR_SENTENCE, type ErrorKind } from "../../domain/errors.ts";
import { MINUTE } from "../../domain/time.ts";
import { isWholeText } from "../../domain/whole-text.ts";
import {
  openConnection,
  submitSecrets,
  type ClosedReason,
  type Submitted,
} from "../../services/accounts/connect-page.ts";
import { guestCall, type AppContext } from "../../services/context.ts";
import { messageView, type View } from "../pages/message-view.ts";
import { closedView, connectedView, formView } from "./connect-views.ts";
import { sendPage } from "../pages/layout.ts";
import { limitBodyTime } from "../access/slow-senders.ts";

/** Pages shown to one address a minute, submissions among them. */
const MAX_PAGES_A_MINUTE = 120;
const MAX_SUBMISSIONS_A_MINUTE = 20;

/** A form of a few secrets. */
const MAX_FORM_BYTES = "64kb";
const MAX_FORM_FIELDS = 50;

const CLOSED_STATUS: Record<ClosedReason, number> = { unknown: 404, used: 410, expired: 410, failed: 410 };

const REFUSED_STATUS: Partial<Record<ErrorKind, number>> = {
  conflict: 409,
  rate_limited: 429,
  unavailable: 503,
};

/**
 * The page where a person enters a channel's secrets: `GET` and `POST /connect/<token>`. The token is the
 * permission; there is no cookie and no script, and the address holds no secret.
 */
export function createConnectRouter(ctx: AppContext): Router {
  const router = Router();
  router.use("/connect", limitTo(MAX_PAGES_A_MINUTE));
  router
    .route("/connect/:token")
    .get(showForm(ctx))
    .post(
      limitTo(MAX_SUBMISSIONS_A_MINUTE),
      limitBodyTime(ctx.clock, refuseSlow),
      express.urlencoded({ extended: false, limit: MAX_FORM_BYTES, parameterLimit: MAX_FORM_FIELDS }),
      submitForm(ctx),
    )
    .all((_request, response) => {
      response.set("Allow", "GET, HEAD, POST");
      show(
        response,
        405,
        messageView("This page takes only its form", "Open the address in a browser and send the form."),
      );
    });
  router.use("/connect", (_request, response) => show(response, 404, closedView("unknown")));
  router.use("/connect", showError(ctx));
  return router;
}

function limitTo(limit: number): RequestHandler {
  return rateLimit({
    windowMs: MINUTE,
    limit,
    standardHeaders: "draft-8",
    legacyHeaders: false,
    // We trust no proxy's word on addresses; that somebody sends one is no reason to print a warning.
    validate: { xForwardedForHeader: false, forwardedHeader: false },
    handler: (_request, response) =>
      show(response, 429, messageView("Too many requests", "Wait a minute, then open this page again.")),
  });
}

function showForm(ctx: AppContext): RequestHandler<{ token: string }> {
  return async (request, response) => {
    const opened = await openConnection(guestCall(ctx), request.params.token);
    if (opened.state === "closed")
      return show(response, CLOSED_STATUS[opened.reason], closedView(opened.reason));
    show(response, 200, formView(opened.form));
  };
}

function submitForm(ctx: AppContext): RequestHandler<{ token: string }> {
  return async (request, response) => {
    const entered = readForm(request);
    if (entered === null) {
      return show(
        response,
        400,
        messageView("The form could not be read", "Go back, and send the form of this page."),
      );
    }
    const gone = new AbortController();
    // Whoever closes the page calls it off: nobody would see what it answers.
    response.once("close", () => gone.abort(new Error("The page was closed.")));
    showSubmitted(
      response,
      entered,
      await submitSecrets(guestCall(ctx, gone.signal), { token: request.params.token, secrets: entered }),
    );
  };
}

function showSubmitted(response: Response, entered: Record<string, string>, done: Submitted): void {
  switch (done.state) {
    case "connected":
      return show(response, 200, connectedView(done));
    case "closed":
      return show(response, CLOSED_STATUS[done.reason], closedView(done.reason));
    case "refused":
      return show(
        response,
        REFUSED_STATUS[done.error.kind] ?? 400,
        formView(done.form, { entered, error: { message: done.error.message, fieldName: done.fieldName } }),
      );
  }
}

function refuseSlow(response: Response): void {
  show(
    response,
    408,
    messageView("The form did not arrive", "Open the address again and send the form anew."),
  );
}

/** One text a field; anything else is not our form. */
function readForm(request: Request<{ token: string }>): Record<string, string> | null {
  const body: unknown = request.body;
  if (typeof body !== "object" || body === null) return null;
  const entries = Object.entries(body);
  const texts = entries.filter((entry): entry is [string, string] => typeof entry[1] === "string");
  const isWhole = texts.length === entries.length && texts.flat().every(isWholeText);
  return isWhole ? Object.fromEntries(texts) : null;
}

function show(response: Response, status: number, view: View): void {
  sendPage(response, { status, ...view });
}

/** Errors of this page are pages too; what the body parser refuses says so by its status. */
function showError(ctx: AppContext): ErrorRequestHandler {
  return (error: unknown, _request, response, next) => {
    if (response.headersSent) return next(error);
    const status = statusOf(error);
    if (status === 413)
      return show(
        response,
        413,
        messageView("That is too much", "The form was too large. Check what was entered."),
      );
    if (status < 500)
      return show(
        response,
        400,
        messageView("The form could not be read", "Open the address again and send the form anew."),
      );
    ctx.log.error({ err: error }, "a connect page failed");
    show(response, 500, messageView("Something went wrong", INTERNAL_ERROR_SENTENCE));
  };
}

function statusOf(error: unknown): number {
  if (typeof error !== "object" || error === null || !("status" in error)) return 500;
  return typeof error.status === "number" ? error.status : 500;
}
