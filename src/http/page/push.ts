import { type Request, type RequestHandler, Router } from "express";
import type * as z from "zod";
import { readArguments } from "../../domain/arguments/coerce.ts";
import { BrowserArgs, subscribeBrowser, unsubscribeBrowser } from "../../reporting/webhooks/browsers.ts";
import { readPublicPushKey } from "../../reporting/webhooks/push.ts";
import { type AppContext, plainCall } from "../../context.ts";
import { callerOf, type Guard } from "../access/auth.ts";
import { methodNotAllowed } from "../errors.ts";
import { parseBody, readBody } from "../json-body.ts";
import { readQuery } from "../query.ts";

const Endpoint = BrowserArgs.pick({ endpoint: true });

/** Notices in the browser that the page is open in. */
export function createPushRouter(ctx: AppContext, guard: Guard): Router {
  const router = Router({ caseSensitive: true });
  const read = [...guard.identify, guard.permit("read", "get notices"), guard.limit];
  router
    .route("/push")
    .get(read, showKey(ctx))
    .post(read, ...readBody, subscribe(ctx))
    .delete(read, ...readBody, unsubscribe(ctx))
    .all(read, methodNotAllowed(["GET", "POST", "DELETE"]));
  return router;
}

function showKey(ctx: AppContext): RequestHandler {
  return async (request, response) => {
    readQuery(request, {});
    response.json({ publicKey: await readPublicPushKey(ctx) });
  };
}

function subscribe(ctx: AppContext): RequestHandler {
  return async (request, response) => {
    const args = readArgs(BrowserArgs, request);
    response.status(201).json(await subscribeBrowser(plainCall(ctx, callerOf(response)), args));
  };
}

function unsubscribe(ctx: AppContext): RequestHandler {
  return async (request, response) => {
    const args = readArgs(Endpoint, request);
    await unsubscribeBrowser(plainCall(ctx, callerOf(response)), args);
    response.status(204).end();
  };
}

function readArgs<T extends z.ZodObject>(schema: T, request: Request): z.output<T> {
  readQuery(request, {});
  return readArguments(schema, parseBody(request, "required"));
}
