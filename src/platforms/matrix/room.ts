import * as z from "zod";
import type { Inspection } from "../../ports/platform.ts";
import type { PlatformIo } from "../../ports/platform-io.ts";
import { askAs, orNull, placeOf, roomPath, type Ask } from "./api.ts";

/** A room as its state tells, and why the account cannot post there; null: it can. */
export interface Room {
  readonly name: string;
  readonly alias: string | null;
  readonly problem: string | null;
}

const Level = z.coerce.number().optional().catch(undefined);
const Levels = z.record(z.string(), z.coerce.number()).catch({});

const Power = z.looseObject({
  events: Levels,
  events_default: Level,
  users: Levels,
  users_default: Level,
});
type Power = z.infer<typeof Power>;

const Created = z.looseObject({
  type: z.string().optional().catch(undefined),
  room_version: z.string().optional().catch(undefined),
  creator: z.string().optional().catch(undefined),
  additional_creators: z.array(z.string()).catch([]),
});

/** The whole event; older servers give its content alone. */
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
    orNull(ask({ method: "GET", path: `${roomPath(roomId)}/state/${type}`, query }, schema), [403, 404]);
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
    // Who was thrown out still reads how things stood then.
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
  const { roomId, userId } = placeOf(io.account);
  const { name, alias, problem } = await readRoom(ask, roomId, userId);
  const config =
    (await orNull(ask({ method: "GET", path: "/client/v1/media/config" }, Config))) ??
    (await orNull(ask({ method: "GET", path: "/media/v3/config" }, Config)));
  const maxBytes = config?.["m.upload.size"];
  return { name, handle: alias, ...(maxBytes === undefined ? {} : { limits: { maxBytes } }), problem };
}
