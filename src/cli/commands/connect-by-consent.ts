import type { Account } from "../../domain/accounts/account.ts";
import type { ConnectArgs } from "../../domain/accounts/connection.ts";
import { AppError } from "../../domain/errors.ts";
import { SECOND } from "../../domain/time.ts";
import { openConnection, submitChoice } from "../../connecting/connect-page.ts";
import { checkConnection, connectChannel } from "../../connecting/connections.ts";
import { leadOn, pasteAddress } from "../../connecting/consent.ts";
import { guestCall, plainCall, type CallContext } from "../../context.ts";
import type { Host, Session } from "../host.ts";
import { localCaller } from "../../access/api-keys.ts";
import { chooseChannels } from "./choose-channels.ts";

/** How often is looked whether the person is back; it may be another process that they came back to. */
const LOOK_EVERY_MS = SECOND / 2;

interface Waiting {
  readonly host: Host;
  readonly call: CallContext;
  readonly connectId: string;
  readonly token: string;
  readonly targets: string | undefined;
}

type State = Awaited<ReturnType<typeof checkConnection>>;

/**
 * Prints the address to open and waits until the person has agreed there, whichever process they come back to.
 * Throws AppError where it fails or runs out.
 */
export async function connectByConsent(
  host: Host,
  session: Session,
  { targets, ...args }: ConnectArgs & { readonly targets: string | undefined },
): Promise<readonly Account[]> {
  await session.servePages();
  const call = plainCall(session.ctx, localCaller(), host.stopSignal);
  const { url, connectId, expiresAt } = await connectChannel(call, args);
  if (url === null || connectId === null) throw new Error("There is no address to open.");
  const waiting = { host, call, connectId, targets, token: url.slice(url.lastIndexOf("/") + 1) };
  // Asked for first: it makes a state, and one made later would void that of whoever is on their way already.
  const direct = host.terminal.isInteractive ? await askForDirectAddress(waiting) : null;
  host.terminal.tell(
    `Open this address in a browser and go on from there, until ${expiresAt}:\n\n  ${url}\n\n`,
  );
  if (direct !== null) {
    host.terminal.tell(
      `If your browser cannot open that page, open this one instead. It ends at a page that does not load. Paste the address of that page here.\n\n  ${direct}\n\n`,
    );
  }
  const back = await untilBack(waiting);
  return back.status === "choose" ? choose(waiting) : connectedOf(back);
}

/** The platform's own, for a browser on another machine, which cannot open our page. */
async function askForDirectAddress({ call, token }: Waiting): Promise<string | null> {
  const done = await leadOn(guestCall(call.ctx, call.signal), { token });
  if (done.state === "refused") throw done.error;
  return done.state === "lead" ? done.url : null;
}

/** Looks until nothing is pending any more; meanwhile somebody may paste the address that a browser ended at. */
async function untilBack(waiting: Waiting): Promise<State> {
  const over = new AbortController();
  const asking = waiting.host.terminal.isInteractive
    ? askForAddress(waiting, over.signal)
    : Promise.resolve();
  try {
    return await untilNot(waiting, ["pending"], waiting.call.signal);
  } finally {
    over.abort();
    await asking;
  }
}

async function untilNot(
  { host, call, connectId }: Waiting,
  statuses: readonly State["status"][],
  signal: AbortSignal,
): Promise<State> {
  let told: string | null = null;
  for (;;) {
    const state = await checkConnection(call, { connectId });
    if (!statuses.includes(state.status)) return state;
    if (state.error !== null && state.error !== told) host.terminal.tell(`${state.error}\n`);
    told = state.error;
    await call.ctx.clock.sleep(LOOK_EVERY_MS, signal);
  }
}

async function askForAddress({ host, call, token }: Waiting, over: AbortSignal): Promise<void> {
  const signal = AbortSignal.any([over, call.signal]);
  try {
    while (!signal.aborted) {
      const address = await host.terminal.ask("Waiting. Or paste the address here: ", {
        isHidden: false,
        signal,
      });
      if (address === "") {
        await call.ctx.clock.sleep(LOOK_EVERY_MS, signal);
        continue;
      }
      const done = await pasteAddress(guestCall(call.ctx), { token, address });
      if (done.state === "refused") host.terminal.tell(`${done.error.message}\n`);
      else if (done.state !== "start") return;
    }
  } catch (error) {
    // Nobody answers any more: the browser came back, or the question was closed; the browser still may.
    if (!signal.aborted && !(error instanceof AppError)) throw error;
  }
}

/** Here, or on the page that the browser shows meanwhile: whichever is first. */
async function choose(waiting: Waiting): Promise<readonly Account[]> {
  const { host, call, targets, token } = waiting;
  const opened = await openConnection(guestCall(call.ctx), { token });
  const over = new AbortController();
  const elsewhere = untilNot(waiting, ["choose"], AbortSignal.any([over.signal, call.signal]));
  if (opened.state !== "choose" || (targets === undefined && !host.terminal.isInteractive)) {
    host.terminal.tell(
      opened.state === "choose"
        ? "Several channels were found: choose on the page in the browser, or with --targets.\n"
        : "The browser that came back is not the one that began. Confirm the channel on the page that it shows.\n",
    );
    return connectedOf(await elsewhere);
  }
  const asked = new AbortController();
  const choosing = { terminal: host.terminal, targets, signal: asked.signal };
  const here = chooseHere(waiting, opened.choice.channels, choosing);
  try {
    await Promise.race([here, elsewhere]);
  } finally {
    asked.abort();
    over.abort();
    await Promise.allSettled([here, elsewhere]);
  }
  return connectedOf(await checkConnection(call, { connectId: waiting.connectId }));
}

async function chooseHere(
  { call, token }: Waiting,
  channels: Parameters<typeof chooseChannels>[1],
  choosing: Parameters<typeof chooseChannels>[0],
): Promise<void> {
  const keys = await chooseChannels(choosing, channels);
  const done = await submitChoice(guestCall(call.ctx), { token, keys });
  if (done.state === "refused") throw done.error;
}

function connectedOf(state: State): readonly Account[] {
  if (state.status === "connected") return state.accounts;
  throw new AppError("invalid", state.error ?? "Nothing was connected. Start again.");
}
