export interface FakeMessage {
  readonly channel: string;
  readonly ts: string;
  /** As readers see it. */
  text: string;
  readonly metadata: unknown;
  readonly files: string[];
  readonly threadTs: string | null;
  readonly visibleAt: number;
  isDeleted: boolean;
  reactions: { name: string; count: number }[];
  readonly isPreviewed: boolean;
}

export interface FakeFile {
  readonly id: string;
  readonly length: number;
  readonly altText: string | null;
  readonly name: string;
  title: string | null;
  isUploaded: boolean;
  isComplete: boolean;
  isDeleted: boolean;
}

interface FakeChannel {
  readonly id: string;
  name: string;
  is_archived: boolean;
  is_member: boolean;
  readonly is_private: boolean;
}

export interface FakeState {
  readonly now: () => number;
  /** Scopes by token. */
  readonly tokens: Map<string, string[]>;
  readonly channels: Map<string, FakeChannel>;
  readonly messages: FakeMessage[];
  readonly files: Map<string, FakeFile>;
  /** Scopes by code, good once. */
  readonly codes: Map<string, string[]>;
  readonly refreshTokens: Map<string, string[]>;
  rotates: boolean;
  /** How long after its completion a file is shown. */
  shareMs: number;
  nextTs: number;
}

export type Args = Readonly<Record<string, unknown>>;
/** What is said beside `ok`; a text is an error, for `missing_scope` with the scope that it needs. */
export type Said = object | string;
export type Method = (state: FakeState, args: Args, token: string, scopes: readonly string[]) => Said;

export const text = (value: unknown): string => (typeof value === "string" ? value : "");

export const TEAM = { url: "https://acme.slack.com/", team: "Acme", user: "posthorn", team_id: "T0ACME" };

export function visible(state: FakeState): FakeMessage[] {
  return state.messages.filter(({ visibleAt, isDeleted }) => visibleAt <= state.now() && !isDeleted);
}

/** A channel that the bot sees: private ones from inside alone. */
export function channelFor(state: FakeState, id: unknown): FakeChannel | null {
  const channel = state.channels.get(text(id));
  return channel === undefined || (channel.is_private && !channel.is_member) ? null : channel;
}

export function find(state: FakeState, args: Args, ts = args["ts"]): FakeMessage | undefined {
  return visible(state).find((one) => one.channel === args["channel"] && one.ts === ts);
}

export function add(
  state: FakeState,
  message: Partial<FakeMessage> & { channel: string; text: string },
): FakeMessage {
  state.nextTs += 1;
  const seconds = Math.floor(state.now() / 1_000);
  const added: FakeMessage = {
    ts: `${seconds}.${String(state.nextTs).padStart(6, "0")}`,
    metadata: null,
    files: [],
    threadTs: null,
    visibleAt: state.now(),
    isDeleted: false,
    reactions: [],
    isPreviewed: false,
    ...message,
  };
  state.messages.push(added);
  return added;
}

export function threadOf(state: FakeState, args: Args): string | null | undefined {
  if (args["thread_ts"] === undefined) return null;
  const at = { channel: args["channel"] ?? args["channel_id"] };
  return find(state, at, args["thread_ts"])?.threadTs === null ? text(args["thread_ts"]) : undefined;
}
