import * as z from "zod";
import type { ConnectIo } from "../../ports/connect.ts";
import { type PlatformAccount, PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import type { Inspection } from "../../ports/platform.ts";
import { byCode, type FaultRule, type FaultTable, orNull, TOO_LARGE_FILE } from "../shared/faults.ts";
import { type ApiCall, restApi } from "../shared/rest-api.ts";

const api = restApi({
  base: (io) => roomOf(io.account).baseUrl,
  below: "/_matrix",
  faults: () => FAULTS,
});

/** Null where what it is about is not there (any more). */
export const { askOrGone } = api;

/** One call with an account's token, stored or not. */
export type Ask = <T>(call: ApiCall, schema: z.ZodType<T>) => Promise<T>;

/** While the account is not connected yet; without a token, as a guest. */
export function askWith(io: ConnectIo, server: string, accessToken?: string): Ask {
  const as = { server, ...(accessToken === undefined ? {} : { secrets: { accessToken } }) };
  return (call, schema) => api.askWith(io, as, call, schema);
}

export function askAs(io: PlatformIo): Ask {
  return (call, schema) => api.ask(io, call, schema);
}

const Settings = z.looseObject({ baseUrl: z.string(), userId: z.string(), roomId: z.string() });
type RoomSettings = z.infer<typeof Settings>;

/** What connecting stored of the room. */
export function roomOf({ settings }: Pick<PlatformAccount, "settings">): RoomSettings {
  const { data } = Settings.safeParse(settings);
  if (data !== undefined) return data;
  throw new PlatformFault("auth", "The channel's room is not known. Reconnect the channel.");
}

export function roomPath(roomId: string, version = "v3"): string {
  return `/client/${version}/rooms/${encodeURIComponent(roomId)}`;
}

/** Where a browser or an app finds a room, or an event in it. */
export function linkTo(id: string, at?: { readonly eventId: string; readonly userId: string }): string {
  const room = `https://matrix.to/#/${encodeURIComponent(id)}`;
  if (at === undefined) return room;
  const via = at.userId.slice(at.userId.indexOf(":") + 1);
  return `${room}/${encodeURIComponent(at.eventId)}?via=${encodeURIComponent(via)}`;
}

const Refusal = z.looseObject({ errcode: z.string(), retry_after_ms: z.number().min(0).optional() });

const codesOf: FaultTable["codesOf"] = ({ status, json }) => {
  const { data } = Refusal.safeParse(json);
  return status < 300 || data === undefined ? [] : [data.errcode];
};

/** https://spec.matrix.org/latest/client-server-api/#standard-error-response */
const RULES: readonly FaultRule[] = [
  {
    status: 429,
    kind: "rate",
    message: "The server asks to slow down.",
    // Older servers tell it only here.
    retryAfterMs: ({ json }) => Refusal.safeParse(json).data?.retry_after_ms ?? null,
  },
  ...byCode("auth", {
    "M_USER_LOCKED M_USER_DEACTIVATED M_USER_SUSPENDED":
      "The server has locked, suspended or deactivated this account. Settle that with it first.",
  }),
];

const SIGNED_IN: readonly FaultRule[] = [
  ...byCode("auth", {
    M_CONSENT_NOT_GIVEN:
      "The server asks you to accept its terms first. Sign in with an app, accept them, and reconnect.",
  }),
  {
    status: 401,
    kind: "auth",
    message: "The server no longer accepts the access token. Its session was signed out.",
  },
  ...byCode("setup", {
    M_RESOURCE_LIMIT_EXCEEDED: "The server has reached a limit and takes no messages. Ask its administrator.",
  }),
];

function table(...rules: readonly FaultRule[]): FaultTable {
  return { title: "Matrix", codesOf, rules: [...RULES, ...rules] };
}

const FAULTS = table(...SIGNED_IN, {
  status: 403,
  kind: "rejected",
  message: "The server does not let this account do that. Do it in an app.",
});

/** For signing in with a password. */
export const LOGIN_FAULTS = table(
  ...byCode("rejected", { M_FORBIDDEN: "the server does not accept it for this user. Check both." }),
  {
    status: [400, 403, 404],
    kind: "rejected",
    message: "this server takes no passwords from apps. Connect with an access token instead.",
  },
);

/** For messages: only a person can let the account in again. */
export const SENDING_FAULTS = table(
  ...SIGNED_IN,
  {
    status: [403, 404],
    kind: "auth",
    message:
      "The account may not post in the room, or is not in it any more. Invite it again, or raise its power level.",
  },
  {
    status: 413,
    kind: "rejected",
    field: "caption",
    message: "is too long for a message on Matrix. Shorten it, then send the post again.",
  },
);

export const UPLOAD_FAULTS = table(...SIGNED_IN, TOO_LARGE_FILE, {
  status: 403,
  kind: "rejected",
  field: "mediaUrl",
  message: "the server does not take files of this type, or takes no more from this account.",
});

/** A room as its state tells, and why the account cannot post there; null: it can. */
interface Room {
  readonly name: string;
  readonly alias: string | null;
  readonly problem: string | null;
}

const Level = z.coerce.number().optional().catch(undefined);
const Levels = z.record(z.string(), z.coerce.number()).catch({});
const Power = z.looseObject({ events: Levels, events_default: Level, users: Levels, users_default: Level });
type Power = z.infer<typeof Power>;

const Created = z.looseObject({
  type: z.string().optional().catch(undefined),
  room_version: z.string().optional().catch(undefined),
  creator: z.string().optional().catch(undefined),
  additional_creators: z.array(z.string()).catch([]),
});

/** The whole event; older servers give only its content. */
const Create = z.union([
  z.looseObject({ sender: z.string(), content: Created }),
  Created.transform((content) => ({ sender: content.creator ?? "", content })),
]);
type Create = z.infer<typeof Create>;

const Member = z.looseObject({ membership: z.string() });
const Named = z.looseObject({ name: z.string().catch("") });
const Aliased = z.looseObject({ alias: z.string().nullable().optional().catch(null) });
const Anything = z.looseObject({});

export async function readRoom(ask: Ask, roomId: string, userId: string): Promise<Room> {
  const state = <T>(type: string, schema: z.ZodType<T>, query = {}): Promise<T | null> =>
    orNull(ask({ path: `${roomPath(roomId)}/state/${type}`, query, gone: [{ status: [403, 404] }] }, schema));
  const [member, create, power, encryption, tombstone, named, aliased] = await Promise.all([
    state(`m.room.member/${encodeURIComponent(userId)}`, Member),
    state("m.room.create", Create, { format: "event" }),
    state("m.room.power_levels", Power),
    state("m.room.encryption", Anything),
    state("m.room.tombstone", Anything),
    state("m.room.name", Named),
    state("m.room.canonical_alias", Aliased),
  ]);
  const alias = aliased?.alias ?? null;
  const problem = (): string | null => {
    // An account that was removed still reads the state of that moment.
    if (member?.membership !== "join")
      return "The account is not in this room. Invite it, and connect again with the room's name.";
    if (tombstone !== null) return "This room was replaced by a new one. Connect the new one instead.";
    if (create?.content.type === "m.space") return "This is a space. It has rooms, but no messages.";
    if (encryption !== null)
      return "This room is encrypted. Posthorn posts only in rooms without encryption.";
    return maySend(userId, power, create)
      ? null
      : "The account may not send messages in this room. Raise its power level.";
  };
  return { name: named?.name || alias || roomId, alias, problem: problem() };
}

/** https://spec.matrix.org/latest/client-server-api/#mroompower_levels */
function maySend(userId: string, power: Power | null, create: Create | null): boolean {
  if (power === null) return true;
  const { users, users_default: usual = 0, events, events_default: needed = 0 } = power;
  // From version 12 on, creators stand in no list and may do everything.
  const creators = create === null ? [] : [create.sender, ...create.content.additional_creators];
  const isAbove = Number(create?.content.room_version ?? 1) >= 12 && creators.includes(userId);
  return isAbove || (users[userId] ?? usual) >= (events["m.room.message"] ?? needed);
}

const Config = z.looseObject({ "m.upload.size": z.int().positive().optional().catch(undefined) });

/** The room's name, whether one may post there, and how large files may be. */
export async function inspect(io: PlatformIo): Promise<Inspection> {
  const ask = askAs(io);
  const { roomId, userId } = roomOf(io.account);
  const { name, alias, problem } = await readRoom(ask, roomId, userId);
  const config =
    (await askOrGone(io, { path: "/client/v1/media/config" }, Config)) ??
    (await askOrGone(io, { path: "/media/v3/config" }, Config));
  const maxBytes = config?.["m.upload.size"];
  return { name, handle: alias, ...(maxBytes === undefined ? {} : { limits: { maxBytes } }), problem };
}
