import { shellCaller } from "../../access/api-keys.ts";
import { namesOfAccounts } from "../../channels/accounts/accounts.ts";
import { type AppContext, type CallContext, plainCall } from "../../context.ts";
import type { Toolbox } from "../../toolkit/toolbox.ts";
import type { SentencesAt } from "../../toolkit/words.ts";
import { type CommandArgs, type Row, row, type Takes, type CommandSpec } from "../command.ts";
import type { Host, Session, Terminal } from "../host.ts";
import { toJsonText } from "../options.ts";
import { shellWordsOf } from "./words.ts";

type CallOptions = NonNullable<Parameters<Toolbox["call"]>[3]>;

/** The service, opened for the person or script at a shell. */
export interface Shell {
  readonly host: Host;
  readonly session: Session;
  readonly ctx: AppContext;
  readonly call: CallContext;
  readonly terminal: Terminal;
  readonly timezone: string;
  /** A person reads what is printed; for everyone else it is JSON. */
  readonly isRead: boolean;
  /** What spoken times count from. */
  now(): { readonly now: number; readonly timezone: string };
  /** What channels are called, by their ids. */
  names(): Promise<ReadonlyMap<string, string>>;
  /** Calls a tool. */
  use(tool: string, args: unknown, options?: CallOptions): Promise<Readonly<Record<string, unknown>>>;
  /** A string of an answer in commands. */
  words(text: string): string;
}

/** For a command that does more than to show one answer. */
export async function inShell(
  host: Host,
  json: true | undefined,
  work: (at: Shell) => Promise<void>,
  options?: Parameters<Host["openSession"]>[0],
): Promise<void> {
  await using session = await host.openSession(options);
  await work(shellOf(host, session, json));
}

function shellOf(host: Host, session: Session, json: true | undefined): Shell {
  const { ctx, toolbox } = session;
  const { terminal, stopSignal: signal } = host;
  const { timezone } = ctx.settings;
  const call = plainCall(ctx, shellCaller(), signal);
  let told: SentencesAt = {};
  const opened = { host, session, ctx, call, terminal, timezone };
  return {
    ...opened,
    isRead: terminal.isScreen && json !== true,
    now: () => ({ now: ctx.clock.now(), timezone }),
    names: () => namesOfAccounts(call),
    async use(tool, args, options = {}) {
      const { result, sentences } = await toolbox.call(tool, args, call.caller, { signal, ...options });
      told = sentences;
      return result;
    },
    words: (text) => shellWordsOf(told)(text),
  };
}

interface ShellRow<T extends Takes, Answer> extends CommandSpec<T> {
  answer(at: Shell, given: CommandArgs<T>): Promise<Answer>;
  /** What programs get of it as JSON. Default: all. */
  data?(answer: Answer): unknown;
  /** What a person gets. */
  view(at: Shell, answer: Answer, given: CommandArgs<T>): string | Promise<string>;
  /** What is told, or thrown, once it was printed. */
  after?(at: Shell, answer: Answer, given: CommandArgs<T>): void | Promise<void>;
}

/** A command that shows the answer of a tool or a use case. */
export function shellRow<const T extends Takes, Answer>(told: ShellRow<T, Answer>): Row {
  const { data = (answer) => answer } = told;
  return row<T>({
    ...told,
    run: (given, host) => {
      const json = "json" in given && given.json === true ? true : undefined;
      return inShell(host, json, async (at) => {
        const answer = await told.answer(at, given);
        at.terminal.print(at.isRead ? await told.view(at, answer, given) : toJsonText(data(answer)));
        await told.after?.(at, answer, given);
      });
    },
  });
}
