import { randomBytes } from "node:crypto";
import { AppError } from "../../domain/errors.ts";
import { parseUrl } from "../../domain/parse-url.ts";
import { plainText } from "../../domain/text/plain-text.ts";
import type { Connected, Place } from "../../ports/connect.ts";
import type { JsonObject } from "../../ports/platform-io.ts";
import {
  type ConnectionRow,
  countAttempt,
  findConnectionByState,
  keepConsent,
  noteFailure,
  takeConsent,
} from "../../store/queries/connections.ts";
import type { AppContext, GuestCall } from "../../context.ts";
import { beginConsent, finishConsent } from "./oauth.ts";
import { fitConnected } from "../platform-io/fit-answers.ts";
import { createConnectIo } from "../platform-io/connect-io.ts";
import { explainingFaults, toInput, onServer, toFound } from "./connect-target.ts";
import {
  type ClosedLink,
  closedNow,
  hashToken,
  type KeptConsent,
  type LinkRef,
  LinkUsed,
  MAX_ATTEMPTS,
  openChoice,
  openConsent,
  type OpenLink,
  openRow,
  readLink,
  sealPending,
} from "./connect-link.ts";
import {
  openConnection,
  type OpenedConnection,
  type ConsentStart,
  type ConsentTarget,
  hasConsent,
  findPlace,
  toStart,
} from "./connect-page.ts";
import { type ConnectedLink, finishLink } from "./finish-link.ts";

/*
 * The way to the platform and back. `state` ties the two together: 256 random bits that are found in the database
 * by their hash, good for one link, once, until the link runs out. It does not say who agreed (RFC 9700, 4.7):
 * one person may send another person the platform's own address, and that person never saw our page with its
 * warning. So a consent belongs to the browser that began it. That browser has a cookie named after the state.
 * Where the answer comes without it, nothing is connected yet: the code is exchanged, and the page after it says
 * who will post where, and asks. That page has a new address, which only this browser gets, and the link's old
 * address ends: the person who made the link cannot press that button. So a consent may still end on another
 * machine, and `localhost` and 127.0.0.1, two hosts to a browser, cost one more button.
 */

type ConsentLink = OpenLink & { readonly target: ConsentTarget };

/** What comes next stands on the link's page. */
interface LinkPage {
  readonly state: "page";
  readonly token: string;
}

export interface RefusedStart {
  readonly state: "refused";
  readonly start: ConsentStart;
  readonly error: AppError;
}

/** The platform's address to send the person to. */
interface Lead {
  readonly state: "lead";
  readonly url: string;
  /** Of the state, for the cookie of the browser that is sent there. */
  readonly stateHash: string;
}

/**
 * Makes a new state, which voids the one before, and answers the platform's address to send the person to.
 * `instanceUrl`: the server, where the page asked for it.
 */
export async function leadOn(
  call: GuestCall,
  { instanceUrl, ...ref }: LinkRef & { readonly instanceUrl?: string | undefined },
): Promise<Lead | RefusedStart | OpenedConnection> {
  const { ctx } = call;
  const link = await readLink(ctx, ref);
  if (link.state === "closed") return link;
  const { row, target } = link;
  if (row.status !== "pending" || !hasConsent(target)) return openConnection(call, ref);
  const counted = await ctx.store.write((tx) =>
    countAttempt(tx, row.id, { now: ctx.clock.now(), maxAttempts: MAX_ATTEMPTS }),
  );
  if (counted === undefined) return closedNow(ctx, ref);
  try {
    return await begin(call, { ...link, target: onServer(ctx, target, instanceUrl) });
  } catch (error) {
    if (error instanceof LinkUsed) return closedNow(ctx, ref);
    return refuse(ctx, { ...link, target }, error);
  }
}

/** Throws `LinkUsed` where the link was closed meanwhile. */
async function begin(call: GuestCall, { row, target, token }: ConsentLink): Promise<Lead> {
  const { ctx } = call;
  const state = randomBytes(32).toString("base64url");
  const { place, keep, url } = await explainingFaults(ctx, { platform: target.platform, secrets: [] }, () =>
    askToBegin(call, target, state),
  );
  const pendingEnc = sealPending(ctx, row, { stage: "consent", token, place, keep });
  const stateHash = hashToken(state);
  const consent = { stateHash, pendingEnc, way: target.way.name };
  if (!(await ctx.store.write((tx) => keepConsent(tx, row.id, consent)))) throw new LinkUsed();
  // A server that a person names may have given it: a browser must not be sent to a script or a file.
  if (/^https?:$/.test(parseUrl(url)?.protocol ?? "")) return { state: "lead", url, stateHash };
  const { title } = target.platform;
  throw new AppError("unavailable", `${title} named an address that no browser can be sent to.`);
}

async function askToBegin(
  { ctx, signal }: GuestCall,
  target: ConsentTarget,
  state: string,
): Promise<{ place: Place; keep: JsonObject; url: string }> {
  const { platform, way, ownerId } = target;
  const place = await findPlace(ctx, target);
  if (way.kind === "oauth") {
    return { place, ...(await beginConsent(ctx, { platform, way, place, ownerId, state }, signal)) };
  }
  // Flows other than OAuth have no `state`: the return address carries it.
  const back = new URL(place.redirectUrl);
  back.searchParams.set("state", state);
  const marked = { ...place, redirectUrl: back.href };
  const io = await createConnectIo(ctx, { provider: platform.name, ownerId }, signal);
  return { place: marked, ...(await way.begin(toInput(target, {}), marked, io)) };
}

async function findByState(
  ctx: AppContext,
  answer: Readonly<Record<string, string>>,
): Promise<ConnectionRow | undefined> {
  const state = answer["state"] ?? "";
  return state === "" ? undefined : findConnectionByState(ctx.store, hashToken(state));
}

/**
 * A person is back with an answer: exchanges it, before anything is chosen, and connects or lets them choose.
 * An answer with no state or another's is `foreign` and changes nothing; the same one again is `answered`, or
 * tells how it ended. `onlyOf`: the link whose page the answer was pasted into.
 */
export async function comeBack(
  call: GuestCall,
  { answer, onlyOf, isBegunHere }: RedirectAnswer & { readonly onlyOf?: string },
): Promise<ConnectedLink | LinkPage | ClosedLink> {
  const { ctx } = call;
  const row = await findByState(ctx, answer);
  const isWanted = onlyOf === undefined || row?.token_hash === hashToken(onlyOf);
  if (row === undefined || !isWanted) return { state: "closed", reason: "foreign", title: null };
  const link = await openRow(ctx, row, { token: "" });
  if (link.state === "closed") return link;
  const answered: ClosedLink = { state: "closed", reason: "answered", title: link.target.platform.title };
  if (row.status === "choose") {
    const { token, isElsewhere } = openChoice(ctx, row);
    return isBegunHere && !isElsewhere ? { state: "page", token } : answered;
  }
  const sealed = row.pending_enc;
  if (sealed === null || !(await ctx.store.write((tx) => takeConsent(tx, row.id, sealed)))) return answered;
  const kept = openConsent(ctx, row);
  const { target } = link;
  if (!hasConsent(target)) return closedNow(ctx, { token: kept.token });
  return finish(call, { link: { ...link, target, token: kept.token }, kept, answer, isBegunHere });
}

interface RedirectAnswer {
  readonly answer: Readonly<Record<string, string>>;
  /** Whether the browser that brings the answer is the one that was led on. Elsewhere the person is asked. */
  readonly isBegunHere: boolean;
}

type Finishing = RedirectAnswer & { readonly link: ConsentLink; readonly kept: KeptConsent };

async function finish(call: GuestCall, at: Finishing): Promise<ConnectedLink | LinkPage | ClosedLink> {
  const { ctx } = call;
  const { link, kept } = at;
  const about = { platform: link.target.platform, secrets: Object.values(at.answer) };
  try {
    const connected = await explainingFaults(ctx, about, async () =>
      fitConnected(about.platform.title, await askToFinish(call, at)),
    );
    const found = toFound(connected, kept.place);
    const settled = await finishLink(call, link, { found, isElsewhere: !at.isBegunHere });
    return settled.state === "connected" ? settled : { state: "page", token: settled.token };
  } catch (error) {
    if (error instanceof LinkUsed) return closedNow(ctx, link);
    // What the person said, or the account is, stays so: another answer takes another link.
    const isFinal = error instanceof AppError && error.kind === "invalid";
    const refused = await refuse(ctx, link, error, isFinal);
    return refused.state === "closed" ? refused : { state: "page", token: link.token };
  }
}

async function askToFinish({ ctx, signal }: GuestCall, at: Finishing): Promise<Connected> {
  const { kept, answer } = at;
  const { platform, way, ownerId } = at.link.target;
  const { place, keep } = kept;
  if (way.kind === "oauth")
    return finishConsent(ctx, { platform, way, place, ownerId, keep, answer }, signal);
  const knownSecrets = new Set(Object.values(answer));
  const io = await createConnectIo(ctx, { provider: platform.name, ownerId, knownSecrets }, signal);
  return way.finish(answer, { keep, place }, io);
}

/** Notes why it did not work, where the person can do something about it; what else is thrown is a bug. */
async function refuse(
  ctx: AppContext,
  link: ConsentLink,
  error: unknown,
  isLast = false,
): Promise<RefusedStart | ClosedLink> {
  if (!(error instanceof AppError)) throw error;
  const { row } = link;
  await ctx.store.write((tx) => noteFailure(tx, row.id, { error: plainText(error.message, 1_000), isLast }));
  if (isLast) return closedNow(ctx, link);
  return {
    state: "refused",
    start: await toStart(ctx, { ...link, row: { ...row, pending_enc: null } }),
    error,
  };
}

/** The address that a browser ended at, pasted: as if it had come back by itself. */
export async function pasteAddress(
  call: GuestCall,
  { address, ...ref }: LinkRef & { readonly address: string },
): Promise<ConnectedLink | RefusedStart | OpenedConnection> {
  const { ctx } = call;
  const link = await readLink(ctx, ref);
  if (link.state === "closed" || !hasConsent(link.target)) return openConnection(call, ref);
  const done = await comeBack(call, { answer: readAnswer(address), onlyOf: ref.token, isBegunHere: true });
  if (done.state === "page") return openConnection(call, { token: done.token });
  if (done.state !== "closed" || done.reason !== "foreign") return done;
  const error = new AppError(
    "invalid",
    `address: this is not what ${link.target.platform.title} sent you back to from this page's last try. Copy the whole address out of the browser's address bar, with everything after the question mark.`,
  );
  return { state: "refused", start: await toStart(ctx, { ...link, target: link.target }), error };
}

/** The parameters of an address, or of the part of it after the question mark; the first of each name. */
export function readAnswer(address: string): Record<string, string> {
  const text = address.trim().replace(/#.*$/s, "");
  const query = text.includes("?") ? text.slice(text.indexOf("?") + 1) : text;
  const answer: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(query)) answer[name] ??= value;
  return answer;
}
