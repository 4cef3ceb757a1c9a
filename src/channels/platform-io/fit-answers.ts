import { oneLine, plainText, visibleOnly } from "../../domain/text/plain-text.ts";
import { Message, type Said, sentencesIn } from "../../domain/sentences.ts";
import type { App, Connected, Endpoints, Target, Tokens } from "../../ports/connect.ts";
import type { Choice, Inspection, PlatformAnalytics, PublishOutcome } from "../../ports/platform.ts";
import { PlatformFault, type Json, type JsonObject } from "../../ports/platform-io.ts";
import { fitAddress, isFitId } from "../../ports/platform-values.ts";
import type { EffectContext, EffectSpec, LiveAt } from "../../ports/publish-io.ts";

/*
 * What a platform's file made of answers, before it is stored or shown: another server has said it. An address
 * that is none becomes null. An id that is none makes the answer one that was lost: what it answers may have
 * been done.
 */

const MAX_TOKEN_CHARS = 16_384;
const MAX_SCOPES = 200;
const MAX_SCOPE_CHARS = 200;
const MAX_LABEL_CHARS = 200;
const MAX_SENTENCE_CHARS = 1_000;

/** Of one text among the facts about a channel, which may be an address. */
const MAX_FACT_CHARS = 2_048;

/** Of what is kept of one answer: some ids, an address, a list of what a channel may do. */
const MAX_KEPT_CHARS = 65_536;

function notProper(title: string, kind: "transient" | "ambiguous"): PlatformFault {
  return kind === "transient"
    ? new PlatformFault(kind, `${title} did not answer properly.`)
    : new PlatformFault(kind, `${title} did not answer properly, so it may have done what was asked.`);
}

/** Where a post is. Throws `ambiguous` for an id that is none. */
export function fitPlace(title: string, { platformPostId, platformUrl }: LiveAt): LiveAt {
  if (platformPostId !== null && !isFitId(platformPostId)) throw notProper(title, "ambiguous");
  return { platformPostId, platformUrl: fitAddress(platformUrl) };
}

/** How far a post is. Throws `ambiguous` for an id that is none. */
export function fitOutcome(title: string, outcome: PublishOutcome): PublishOutcome {
  if (outcome.state !== "live" && outcome.state !== "held") return outcome;
  const { platformUrl } = fitPlace(title, outcome);
  return { ...outcome, platformUrl };
}

/** What an edit changed of a post's place; what is left out stays. Throws `ambiguous` for an id that is none. */
export function fitEdited(
  title: string,
  { platformPostId, platformUrl }: { platformPostId?: string; platformUrl?: string },
): { platformPostId?: string; platformUrl?: string } {
  const { platformUrl: url } = fitPlace(title, {
    platformPostId: platformPostId ?? null,
    platformUrl: platformUrl ?? null,
  });
  return {
    ...(platformPostId === undefined ? {} : { platformPostId }),
    ...(url === null ? {} : { platformUrl: url }),
  };
}

/** A step whose result and handle are fit to be kept; else its answer counts as lost. */
export function fitEffect<R extends Json>(title: string, spec: EffectSpec<R>): EffectSpec<R> {
  const { live } = spec;
  const kept = <V extends Json>(value: V): V => {
    if (JSON.stringify(value).length > MAX_KEPT_CHARS) throw notProper(title, "ambiguous");
    return value;
  };
  const fit = (given: R): R => {
    const result = shown(kept(given));
    const place = live?.(result);
    if (place !== undefined) fitPlace(title, place);
    return result;
  };
  const within = <C extends EffectContext>(context: C): C => ({
    ...context,
    saveHandle: async (handle) => context.saveHandle(kept(handle)),
  });
  return {
    ...spec,
    send: async (context) => fit(await spec.send(within(context))),
    reconcile: async (context) => {
      const settled = await spec.reconcile(within(context));
      return settled.outcome === "done" ? { ...settled, result: fit(settled.result) } : settled;
    },
    ...(live === undefined ? {} : { live: (result: R) => fitPlace(title, live(result)) }),
  };
}

/** The same value, its texts without invisible characters: ids and addresses have none. */
function shown<V extends Json>(value: V): V {
  const clean = JSON.stringify(value, (_name, item: unknown) =>
    typeof item === "string" ? visibleOnly(item) : item,
  );
  return JSON.parse(clean) as V;
}

/** What a connection found. Throws `transient` for an id that is none. */
export function fitConnected(title: string, { tokens, targets }: Connected): Connected {
  return {
    tokens: tokens === null ? null : fitTokens(title, tokens),
    targets: targets.map((target) => fitTarget(title, target)),
  };
}

function fitTarget(title: string, target: Target): Target {
  if (!isFitId(target.platformAccountId)) throw notProper(title, "transient");
  requireFitSecrets(title, target.secrets);
  return {
    ...target,
    profileUrl: fitAddress(target.profileUrl),
    avatarUrl: fitAddress(target.avatarUrl),
    settings: fitFacts(title, target.settings),
  };
}

/** The app that a server registered for us. Throws `transient` for one that no address could hold. */
export function fitApp(title: string, app: App): App {
  if (!isFitId(app.clientId) || app.clientSecret.length > MAX_TOKEN_CHARS)
    throw notProper(title, "transient");
  return app;
}

/** Where a server says that a consent is asked for. Throws `transient` for what is no web address. */
export function fitEndpoints(title: string, endpoints: Endpoints): Endpoints {
  const { authorize, token, revoke = token } = endpoints;
  if ([authorize, token, revoke].some((url) => fitAddress(url) === null)) throw notProper(title, "transient");
  return endpoints;
}

/** Throws `transient` for a token that no server could be sent. */
export function fitTokens(title: string, tokens: Tokens): Tokens {
  requireFitSecrets(title, tokens.secrets);
  const scopes = tokens.scopes?.slice(0, MAX_SCOPES).map((scope) => plainText(scope, MAX_SCOPE_CHARS));
  const { expiresAt, renewableUntil } = tokens;
  const ends = { expiresAt: fitMoment(expiresAt), renewableUntil: fitMoment(renewableUntil) };
  return { ...tokens, ...ends, scopes: scopes ?? null };
}

/** Servers tell how long a token lasts as any number. What no clock will show is no end. */
function fitMoment(ms: number | null): number | null {
  return ms !== null && Math.abs(ms) <= MAX_MOMENT ? Math.floor(ms) : null;
}

/** https://tc39.es/ecma262/#sec-time-values-and-time-range */
const MAX_MOMENT = 8.64e15;

function requireFitSecrets(title: string, secrets: Tokens["secrets"]): void {
  if (Object.values(secrets).some(({ length }) => length > MAX_TOKEN_CHARS))
    throw notProper(title, "transient");
}

/** What a platform says of a channel now. */
export function fitInspection(title: string, told: Inspection): Inspection {
  return {
    ...told,
    ...(told.avatarUrl === undefined ? {} : { avatarUrl: fitAddress(told.avatarUrl) }),
    ...(told.limits === undefined ? {} : { limits: fitFacts(title, told.limits) }),
    problem: told.problem === null ? null : plainText(told.problem, MAX_SENTENCE_CHARS),
  };
}

/** Facts about a channel, their texts on one line. Throws `transient` for more than is kept of a channel. */
export function fitFacts(title: string, facts: JsonObject): JsonObject {
  const text = JSON.stringify(facts);
  if (text.length > MAX_KEPT_CHARS) throw notProper(title, "transient");
  return JSON.parse(text, (_name, value: unknown) =>
    typeof value === "string" ? oneLine(value.slice(0, MAX_FACT_CHARS)) : value,
  ) as JsonObject;
}

/** Numbers under names that can be read. */
export function fitAnalytics({ totals, days, unavailable }: PlatformAnalytics): PlatformAnalytics {
  return {
    totals: fitNumbers(totals),
    days: days.map(({ date, metrics }) => ({ date, metrics: fitNumbers(metrics) })),
    unavailable: unavailable
      .filter(({ metric }) => METRIC.test(metric))
      .map(({ metric, reason }) => ({ metric, reason: fitSaid(reason) })),
  };
}

function fitSaid(said: Said): Said {
  const fit = (what: string): string => plainText(what, MAX_SENTENCE_CHARS);
  if (typeof said === "string") return fit(said);
  return new Message(sentencesIn(said).map((one) => ({ ...one, what: fit(one.what) })));
}

const METRIC = /^[\w .-]{1,100}$/;

function fitNumbers(numbers: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(numbers).filter(([name]) => METRIC.test(name)));
}

/** Values that can be given back as they are, with labels that can be read. */
export function fitChoices(choices: readonly Choice[]): Choice[] {
  return choices.flatMap(({ value, label }) =>
    isFitId(value) ? [{ value, label: plainText(label, MAX_LABEL_CHARS) }] : [],
  );
}
