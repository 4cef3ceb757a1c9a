import type { Response } from "express";
import type { AppError } from "../../domain/errors.ts";
import type { ClosedReason } from "../../connecting/connect-link.ts";
import type { OpenedConnection, submitChoice, Submitted } from "../../connecting/connect-page.ts";
import type { RefusedStart } from "../../connecting/consent.ts";
import type { ConnectedLink } from "../../connecting/finish-link.ts";
import { STATUS } from "../errors.ts";
import { sendPage, type View } from "../pages/layout.ts";
import { choiceView } from "./choice-view.ts";
import { closedView, connectedView, formView } from "./connect-views.ts";
import { startView } from "./consent-views.ts";

export const CLOSED_STATUS: Record<ClosedReason, number> = {
  unknown: 404,
  foreign: 400,
  answered: 409,
  used: 410,
  expired: 410,
  failed: 410,
};

/** A page that shows what was wrong with a form is there. */
export function refusedStatus({ kind }: AppError): number {
  return ["conflict", "rate_limited", "unavailable"].includes(kind) ? STATUS[kind] : STATUS.invalid;
}

export function show(response: Response, status: number, view: View): void {
  sendPage(response, { status, ...view });
}

type AnyStep =
  OpenedConnection | Submitted | RefusedStart | ConnectedLink | Awaited<ReturnType<typeof submitChoice>>;

/** The page of what came of a step. */
export function showStep(response: Response, done: AnyStep, entered: Record<string, string> = {}): void {
  switch (done.state) {
    case "open":
      return show(response, 200, formView(done.form));
    case "start":
      return show(response, 200, startView(done.start));
    case "choose":
      return show(response, 200, choiceView(done.choice));
    case "connected":
      return show(response, 200, connectedView(done));
    case "closed":
      return show(response, CLOSED_STATUS[done.reason], closedView(done.reason, done.error));
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
