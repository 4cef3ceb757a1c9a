import { AppError } from "../domain/errors.ts";
import type { NoneWay, Secrets, SecretsWay } from "../ports/connect.ts";
import { countAttempt, noteFailure } from "../store/queries/connections.ts";
import type { AppContext, GuestCall } from "../context.ts";
import { askPlatform } from "./ask-platform.ts";
import {
  completeFields,
  type ConnectTarget,
  defaultsOf,
  type FormField,
  instanceOf,
  onServer,
  serverFieldOf,
} from "./connect-fields.ts";
import {
  type ClosedLink,
  closedNow,
  type LinkRef,
  LinkUsed,
  MAX_ATTEMPTS,
  openChoice,
  type OpenLink,
  readLink,
} from "./connect-link.ts";
import { pickChannels, toFound } from "./found-channels.ts";
import {
  connectChosen,
  finishLink,
  toChoice,
  type ChoiceForm,
  type ChoosingLink,
  type ConnectedLink,
} from "./finish-link.ts";
import { hasConsent, toLinkPage, toStart, type ConsentStart, type LinkPage } from "./start-page.ts";

export { MAX_ATTEMPTS } from "./connect-link.ts";

/** What the page shows; no secret, and nothing that a stranger with the address could use. */
export interface ConnectForm extends LinkPage {
  readonly steps: readonly string[];
  /** What the steps have one copy. */
  readonly toCopy: string | null;
  /** Where on their own server the person gets what is asked for. */
  readonly placeUrl: string | null;
  readonly fields: readonly FormField[];
}

export type OpenedConnection =
  | { readonly state: "open"; readonly form: ConnectForm }
  | { readonly state: "start"; readonly start: ConsentStart }
  | ChoosingLink
  | ClosedLink;

/** What is behind a link. Opening it changes nothing: programs that preview addresses open them too. */
export async function openConnection({ ctx }: GuestCall, ref: LinkRef | string): Promise<OpenedConnection> {
  const link = await readLink(ctx, typeof ref === "string" ? { token: ref } : ref);
  if (link.state === "closed") return link;
  return link.row.status === "choose" ? showChoice(ctx, link) : showLink(ctx, link);
}

async function showChoice(ctx: AppContext, link: OpenLink): Promise<ChoosingLink> {
  const choice = await toChoice(ctx, link, openChoice(ctx, link.row));
  return { state: "choose", choice, token: link.token };
}

async function showLink(
  ctx: AppContext,
  link: OpenLink,
): Promise<Extract<OpenedConnection, { state: "open" | "start" }>> {
  const { target } = link;
  return hasConsent(target)
    ? { state: "start", start: await toStart(ctx, { ...link, target }) }
    : { state: "open", form: await toForm(ctx, link) };
}

export type Submitted =
  | ConnectedLink
  | ChoosingLink
  | {
      readonly state: "refused";
      readonly form: ConnectForm;
      readonly error: AppError;
      readonly fieldName: string | null;
    }
  | ClosedLink;

/** Connects with what a person entered. A link connects once, however often and at once it is submitted. */
export async function submitSecrets(
  call: GuestCall,
  { secrets: entered, ...ref }: LinkRef & { readonly secrets: Secrets },
): Promise<Submitted> {
  const { ctx } = call;
  const link = await readLink(ctx, ref);
  if (link.state === "closed") return link;
  try {
    const { instanceUrl, ...fields } = entered;
    const isAsked = serverFieldOf(ctx, link.target) !== null;
    const target = onServer(ctx, link.target, instanceUrl);
    const secrets = await completeFields(ctx, target, isAsked ? fields : entered);
    const counted = await ctx.store.write((tx) =>
      countAttempt(tx, link.row.id, { now: ctx.clock.now(), maxAttempts: MAX_ATTEMPTS }),
    );
    if (counted === undefined) return await openOrClosed(call, ref);
    return await connectOnce(call, { ...link, target, row: counted }, secrets);
  } catch (error) {
    if (error instanceof LinkUsed) return await closedNow(ctx, ref);
    if (!(error instanceof AppError)) throw error;
    const form = await toForm(ctx, link);
    return { state: "refused", form, error, fieldName: fieldOf(form, error) };
  }
}

/** Of a link that takes no secrets now: it is closed, or a person chooses by now. */
async function openOrClosed(call: GuestCall, ref: LinkRef): Promise<ChoosingLink | ClosedLink> {
  const opened = await openConnection(call, ref);
  return opened.state === "choose" ? opened : closedNow(call.ctx, ref);
}

async function connectOnce(
  call: GuestCall,
  link: OpenLink,
  secrets: Secrets,
): Promise<ConnectedLink | ChoosingLink> {
  const { row, target } = link;
  try {
    const connected = await askPlatform(call, assertSecrets(target), secrets);
    const found = toFound(connected, { instanceUrl: target.instanceUrl, redirectUrl: "" });
    return await finishLink(call, link, { found, isElsewhere: false });
  } catch (error) {
    if (error instanceof AppError) {
      const failure = { error: error.message, isLast: row.attempts >= MAX_ATTEMPTS };
      await call.ctx.store.write((tx) => noteFailure(tx, row.id, failure));
    }
    throw error;
  }
}

/** Narrows the target; throws `invalid` for a way that goes over the platform's own page. */
export function assertSecrets(target: ConnectTarget): ConnectTarget & { readonly way: NoneWay | SecretsWay } {
  const { way } = target;
  if (way.kind === "none" || way.kind === "secrets") return { ...target, way };
  throw new AppError(
    "invalid",
    `This way (${way.name}) connects ${target.platform.title} on its own page, not with secrets.`,
  );
}

/** Connects the channels of these keys. */
export async function submitChoice(
  call: GuestCall,
  { keys, ...ref }: LinkRef & { readonly keys: readonly string[] },
): Promise<
  ConnectedLink | { readonly state: "refused"; choice: ChoiceForm; error: AppError } | OpenedConnection
> {
  const { ctx } = call;
  const link = await readLink(ctx, ref);
  if (link.state === "closed") return link;
  // Nothing was found yet: what was sent is no answer to anything that was asked.
  if (link.row.status !== "choose") return showLink(ctx, link);
  const found = openChoice(ctx, link.row);
  try {
    return await connectChosen(call, link, { found, chosen: pickChannels(link.target, found, keys) });
  } catch (error) {
    if (error instanceof LinkUsed) return closedNow(ctx, ref);
    if (!(error instanceof AppError)) throw error;
    return { state: "refused", choice: await toChoice(ctx, link, found), error };
  }
}

async function toForm(ctx: AppContext, link: OpenLink): Promise<ConnectForm> {
  const { target } = link;
  const { way } = target;
  const defaults = await defaultsOf(ctx, target);
  const { fields = [], place } = way.kind === "secrets" ? way : {};
  const server = instanceOf(ctx, target);
  const serverField = serverFieldOf(ctx, target);
  const own = fields.map((field) => ({
    ...field,
    value: field.isSecret ? "" : (defaults[field.name] ?? ""),
    isStored: field.isSecret && (defaults[field.name] ?? "") !== "",
  }));
  return {
    ...toLinkPage(ctx, link),
    steps: way.steps ?? [],
    toCopy: way.toCopy ?? null,
    placeUrl: place === undefined || server === null ? null : server + place,
    fields: serverField === null ? own : [serverField, ...own],
  };
}

/** Sentences begin with the name of the field they are about. */
function fieldOf(form: ConnectForm, error: AppError): string | null {
  return form.fields.find((field) => error.message.startsWith(`${field.name}: `))?.name ?? null;
}
