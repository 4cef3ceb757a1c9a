import type { Account } from "../../domain/accounts/account.ts";
import type { ConnectArgs } from "../../domain/accounts/connection.ts";
import { AppError } from "../../domain/errors.ts";
import { SECOND, formatTime } from "../../domain/time.ts";
import { openConnection, submitChoice } from "../../channels/connecting/connect-page.ts";
import { checkConnection } from "../../channels/connecting/check-connection.ts";
import { connectChannel } from "../../channels/connecting/connections.ts";
import { leadOn, pasteAddress } from "../../channels/connecting/consent.ts";
import { type CallContext, guestCall, plainCall } from "../../context.ts";
import type { Host, Session, Terminal } from "../host.ts";
import { localCaller } from "../../access/api-keys.ts";
import { parseList } from "../options.ts";
import { forShell } from "../shell/words.ts";
import type { FoundChannel } from "../../channels/connecting/store-accounts.ts";

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

/** Prints the address to open, and waits until the person has agreed there. Throws AppError. */
export async function connectByConsent(
  host: Host,
  session: Session,
  { targets, ...args }: ConnectArgs & { readonly targets: string | undefined },
): Promise<readonly Account[]> {
  await session.servePages();
  const call = plainCall(session.ctx, localCaller(), host.stopSignal);
  const { url, connectId, expiresAt } = await connectChannel(call, args);
  if (url === null || connectId === null || expiresAt === null)
    throw new Error("There is no address to open.");
  const waiting = { host, call, connectId, targets, token: url.slice(url.lastIndexOf("/") + 1) };
  // Asked for first: it makes a state, and a later one would void that of a person who is on their way.
  const direct = host.terminal.isInteractive ? await askForDirectAddress(waiting) : null;
  host.terminal.tell(
    `Open this address in a browser and go on from there, until ${formatTime(Date.parse(expiresAt), session.ctx.settings.timezone)}:\n\n  ${url}\n\n`,
  );
  if (!host.terminal.isInteractive)
    host.terminal.tell("This command waits until then, or until it is ended by Ctrl-C or SIGTERM.\n");
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

/** Looks until nothing is pending. Meanwhile the address that a browser ended at may be pasted. */
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
    const said = state.error === null ? null : forShell(state.error);
    if (said !== null && said !== told) host.terminal.tell(`${said}\n`);
    told = said;
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
    // The browser came back, or the question was closed. Then the browser still may come back.
    if (!signal.aborted && !(error instanceof AppError)) throw error;
  }
}

/** Here, or on the page that the browser shows meanwhile: whichever is first. */
async function choose(waiting: Waiting): Promise<readonly Account[]> {
  const { host, call, targets, token } = waiting;
  const opened = await openConnection(guestCall(call.ctx), { token });
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, call.signal]);
  const elsewhere = untilNot(waiting, ["choose"], signal);
  if (opened.state !== "choose" || (targets === undefined && !host.terminal.isInteractive)) {
    host.terminal.tell(
      opened.state === "choose"
        ? "Several channels were found: choose on the page in the browser, or with --targets.\n"
        : "The browser that came back is not the one that began. Confirm the channel on the page that it shows.\n",
    );
    return connectedOf(await elsewhere);
  }
  const { channels } = opened.choice;
  const here = chooseChannels({ terminal: host.terminal, targets, signal }, channels).then(async (keys) => {
    const done = await submitChoice(guestCall(call.ctx), { token, keys });
    if (done.state === "refused") throw done.error;
  });
  try {
    await Promise.race([here, elsewhere]);
  } finally {
    over.abort();
    await Promise.allSettled([here, elsewhere]);
  }
  return connectedOf(await checkConnection(call, { connectId: waiting.connectId }));
}

function connectedOf(state: State): readonly Account[] {
  if (state.status === "connected") return state.accounts;
  throw new AppError("invalid", state.error ?? "Nothing was connected. Start again.");
}

export interface Choosing {
  readonly terminal: Terminal;
  readonly targets: string | undefined;
  readonly signal: AbortSignal;
}

/** The keys of the channels to connect: those of --targets, or those whose numbers are typed. */
export async function chooseChannels(
  { terminal, targets, signal }: Choosing,
  channels: readonly FoundChannel[],
): Promise<readonly string[]> {
  if (targets !== undefined) return keysOf(channels, targets);
  if (!terminal.isInteractive) {
    throw new AppError(
      "invalid",
      `--targets: several channels were found, and no person can be asked. Give their ids, separated by commas, or all. ${describe(channels)}`,
    );
  }
  terminal.tell(`Several channels were found:\n${channels.map(lineOf).join("")}`);
  for (;;) {
    const answer = await terminal.ask("Which ones (numbers, separated by commas, or all)? ", {
      isHidden: false,
      signal,
    });
    if (answer === "all") return usable(channels);
    const numbers = parseList(answer);
    const wrong = numbers.find((number) => !usable(channels).includes(number));
    if (numbers.length > 0 && wrong === undefined) return numbers;
    if (answer === "") throw new AppError("invalid", "No channel was chosen, so none was connected.");
    terminal.tell(`${wrong ?? answer} is not the number of a channel that can be connected.\n`);
  }
}

function keysOf(channels: readonly FoundChannel[], targets: string): readonly string[] {
  if (targets === "all") return usable(channels);
  return parseList(targets).map((id) => {
    const channel = channels.find((candidate) => candidate.id === id);
    if (channel !== undefined) return channel.key;
    throw new AppError("invalid", `--targets: "${id.slice(0, 40)}" was not found. ${describe(channels)}`);
  });
}

function usable(channels: readonly FoundChannel[]): string[] {
  return channels.flatMap(({ key, problem }) => (problem === null ? [key] : []));
}

function lineOf({ key, name, handle, problem }: FoundChannel): string {
  const more = [handle === name ? null : handle, problem].filter((part) => part !== null);
  return `  ${key}  ${[name, ...more].join(" · ")}\n`;
}

const MAX_NAMED = 20;

function describe(channels: readonly FoundChannel[]): string {
  const named = channels.slice(0, MAX_NAMED).map(({ id, name }) => `${id.slice(0, 80)} (${name})`);
  return `The channels are ${named.join(", ")}${channels.length > MAX_NAMED ? " and more" : ""}.`;
}
