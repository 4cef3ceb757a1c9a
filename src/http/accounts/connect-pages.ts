import express, { type ErrorRequestHandler, type RequestHandler, type Response, Router } from "express";
import { AppError, INTERNAL_ERROR_SENTENCE } from "../../domain/errors.ts";
import {
  openConnection,
  type OpenedConnection,
  submitChoice,
  submitSecrets,
  type SubmissionResult,
} from "../../channels/connecting/connect-page.ts";
import { comeBack, leadOn, pasteAddress, type RefusedStart } from "../../channels/connecting/consent.ts";
import { type AppContext, guestCall } from "../../context.ts";
import { untilGone } from "../api/routers.ts";
import { limitRequests } from "../access/auth.ts";
import { hasLeft, STATUS } from "../errors.ts";
import { messageView, sendPage, type View } from "../pages/layout.ts";
import {
  isMarked,
  isOwnLink,
  markBrowser,
  readBoxes,
  readCallback,
  readForm,
  readPageAddress,
} from "./connect-forms.ts";
import { choiceView, closedView, connectedView, formView } from "./connect-views.ts";
import { readSetupPage } from "../../channels/platform-io/set-up.ts";
import { setupPageView, startView } from "./consent-views.ts";
import type { ClosedReason } from "../../channels/connecting/connect-link.ts";
import type { ConnectedLink } from "../../channels/connecting/finish-link.ts";

const MAX_PAGES_A_MINUTE = 120;
const MAX_SUBMISSIONS_A_MINUTE = 20;

/** A form of a few secrets, or the ticked boxes of 5,000 channels. */
const MAX_FORM_BYTES = "64kb";
const MAX_FORM_FIELDS = 50;

/**
 * The pages where a person connects a channel: `/connect/<token>`, and `/connect/callback`, the one address that
 * all platforms send people back to. The token is the permission, and on the way back the state. A cookie tells
 * the browser that was led on. The only scripts copy a new secret, or fill in what a window of the platform's tells, and no
 * address of ours holds a secret that is good for more than this link.
 */
export function createConnectRouter(ctx: AppContext): Router {
  const router = Router();
  router.use("/connect", limitTo(ctx, MAX_PAGES_A_MINUTE));
  router.route("/connect/callback").head(refuseOther("GET")).get(takeAnswer(ctx)).all(refuseOther("GET"));
  router.get("/connect/setup/:provider", showSetup(ctx));
  router
    .route("/connect/:token")
    .get(showLink(ctx))
    .post(limitTo(ctx, MAX_SUBMISSIONS_A_MINUTE), readBody, submit(ctx))
    .all(refuseOther("GET, HEAD, POST"));
  router.use("/connect", (_request, response) => show(response, 404, closedView("unknown")));
  router.use("/connect", showError(ctx));
  return router;
}

function limitTo(ctx: AppContext, limit: number): RequestHandler {
  return limitRequests(ctx, {
    limit,
    handler: (_request, response) =>
      tell(response, 429, ["Too many requests", "Wait a minute, then open this page again."]),
  });
}

const readBody = express.text({ type: "application/x-www-form-urlencoded", limit: MAX_FORM_BYTES });

function refuseOther(allowed: string): RequestHandler {
  return (_request, response) => {
    response.set("Allow", allowed);
    const text = "Open the address in a browser and send the form.";
    tell(response, 405, ["This page takes only its form", text]);
  };
}

function showLink(ctx: AppContext): RequestHandler<{ token: string }> {
  return async (request, response) => {
    const { way } = readPageAddress(request);
    showStep(response, await openConnection(guestCall(ctx), { token: request.params.token, way }));
  };
}

function showSetup(ctx: AppContext): RequestHandler<{ provider: string }> {
  return async (request, response) => {
    const page = await readSetupPage(ctx, request.params.provider);
    if (page === null) return show(response, 404, closedView("unknown"));
    show(response, 200, setupPageView(page));
  };
}

/** The one GET that does something: platforms know no other way. HEAD must not use the answer up. */
function takeAnswer(ctx: AppContext): RequestHandler {
  return async (request, response) => {
    const answer = readCallback(request);
    if (answer === null) return show(response, CLOSED_STATUS.foreign, closedView("foreign"));
    // Not called off when the page is closed: the code is used up, and the caller learns of the channel.
    const isBegunHere = isMarked(request, answer["state"] ?? "");
    const done = await comeBack(guestCall(ctx), { answer, isBegunHere });
    // Loading the page again is no mistake of the person's.
    if (done.state === "closed" && done.reason === "used") return show(response, 200, closedView("used"));
    const isOwn = isOwnLink(request, answer["state"] ?? "");
    if (done.state !== "page") return showStep(response, done, { isOwn });
    // Relative, for proxies with a prefix; and the code leaves the address bar.
    response.set("Cache-Control", "no-store").redirect(303, `./${done.token}`);
  };
}

function submit(ctx: AppContext): RequestHandler<{ token: string }> {
  return async (request, response) => {
    const { step, way } = readPageAddress(request);
    const boxes = step === "choice" ? readBoxes(request, "target") : null;
    const entered = step === "choice" ? null : readForm(request);
    const ref = { token: request.params.token, way };
    const isOwn = isOwnLink(request, ref.token);
    if (boxes !== null)
      return showStep(response, await submitChoice(guestCall(ctx), { ...ref, keys: boxes }), { isOwn });
    if (entered === null || step === null) return tell(response, 400, UNREADABLE);
    if (Object.keys(entered).length > MAX_FORM_FIELDS) return tell(response, 413, TOO_LARGE);
    if (step === "address") {
      const pasted = { ...ref, address: entered["address"] ?? "" };
      return showStep(response, await pasteAddress(guestCall(ctx), pasted), { isOwn });
    }
    // A page that is closed calls it off: its answer would not be seen.
    const call = guestCall(ctx, untilGone(response));
    if (step === "secrets")
      return showStep(response, await submitSecrets(call, { ...ref, secrets: entered }), { entered, isOwn });
    const { instanceUrl } = entered;
    const done = await leadOn(call, { ...ref, instanceUrl });
    if (done.state !== "lead")
      return showStep(response, done, { entered: { instanceUrl: instanceUrl ?? "" }, isOwn });
    await markBrowser(ctx, { request, response, stateHash: done.stateHash, isOwn });
    response.set("Cache-Control", "no-store").redirect(303, done.url);
  };
}

const UNREADABLE = ["The form could not be read", "Open the address again and send the form anew."] as const;
const TOO_LARGE = ["That is too much", "The form was too large. Check what was entered."] as const;

function tell(response: Response, status: number, [heading, text]: readonly [string, string]): void {
  show(response, status, messageView(heading, text));
}

/** Errors of this page are pages too; what the body parser refuses says so by its status. */
function showError(ctx: AppContext): ErrorRequestHandler {
  return (error: Error & { readonly status?: number }, request, response, next) => {
    if (response.headersSent || hasLeft(request, response)) return next(error);
    if (error instanceof AppError)
      return tell(response, refusedStatus(error), ["That did not work", error.message]);
    const { status = 500 } = error;
    if (status === 413) return tell(response, 413, TOO_LARGE);
    if (status < 500) return tell(response, 400, UNREADABLE);
    ctx.log.error({ err: error }, "a connect page failed");
    tell(response, 500, ["Something went wrong", INTERNAL_ERROR_SENTENCE]);
  };
}

const CLOSED_STATUS: Record<ClosedReason, number> = {
  unknown: 404,
  foreign: 400,
  answered: 409,
  used: 410,
  expired: 410,
  failed: 410,
};

/** A page that shows what was wrong with a form is there. */
function refusedStatus({ kind }: AppError): number {
  return ["conflict", "rate_limited", "unavailable"].includes(kind) ? STATUS[kind] : STATUS.invalid;
}

function show(response: Response, status: number, view: View): void {
  sendPage(response, view, { status });
}

type AnyStep =
  | OpenedConnection
  | SubmissionResult
  | RefusedStart
  | ConnectedLink
  | Awaited<ReturnType<typeof submitChoice>>;

interface StepOptions {
  readonly entered?: Record<string, string>;
  readonly isOwn?: boolean;
}

function showStep(
  response: Response,
  done: AnyStep,
  { entered = {}, isOwn = false }: StepOptions = {},
): void {
  switch (done.state) {
    case "open":
      return show(response, 200, formView(done.form));
    case "start":
      return show(response, 200, startView(done.start));
    case "choose":
      return show(response, 200, choiceView(done.choice));
    case "connected":
      return show(response, 200, connectedView(done, isOwn));
    case "closed":
      return show(response, CLOSED_STATUS[done.reason], closedView(done.reason, done.error, isOwn));
    case "refused": {
      const { error } = done;
      const view =
        "choice" in done
          ? choiceView(done.choice, error.message)
          : "start" in done
            ? startView(done.start, error.message, entered["instanceUrl"])
            : formView(done.form, { entered, error: { message: error.message, fieldName: done.fieldName } });
      return show(response, refusedStatus(error), view);
    }
  }
}
