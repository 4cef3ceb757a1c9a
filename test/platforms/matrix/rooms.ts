export type Content = Record<string, any>;

export interface FakeEvent {
  readonly id: string;
  readonly type: string;
  readonly sender: string;
  readonly at: number;
  readonly device: string;
  readonly transaction: string;
  content: Content;
  isRedacted: boolean;
}

export interface FakeRoom {
  readonly id: string;
  /** By type and key, as `m.room.member @horn:horn.example`. */
  readonly state: Map<string, { content: Content; sender: string }>;
  readonly events: FakeEvent[];
}

export interface RoomOptions {
  readonly name?: string;
  readonly alias?: string;
  readonly version?: string;
  readonly type?: string;
  readonly creator?: string;
  readonly members?: readonly string[];
  readonly power?: Content;
  readonly more?: Readonly<Record<string, Content>>;
}

export function makeRoom(id: string, options: RoomOptions): FakeRoom {
  const { name, alias, version = "11", type, creator = "@boss:horn.example", members = [], power } = options;
  const state: FakeRoom["state"] = new Map();
  const set = (key: string, content: Content): void => void state.set(key, { content, sender: creator });
  set("m.room.create", { room_version: version, ...(type === undefined ? {} : { type }) });
  set("m.room.power_levels", power ?? { users: { "@boss:horn.example": 100 }, events_default: 0 });
  if (name !== undefined) set("m.room.name", { name });
  if (alias !== undefined) set("m.room.canonical_alias", { alias });
  for (const member of members) set(`m.room.member ${member}`, { membership: "join" });
  for (const [key, content] of Object.entries(options.more ?? {})) set(key, content);
  return { id, state, events: [] };
}

export function membershipOf({ state }: FakeRoom, userId: string): string | null {
  return state.get(`m.room.member ${userId}`)?.content["membership"] ?? null;
}

/** As the server's own rules say it. */
export function maySend({ state }: FakeRoom, userId: string): boolean {
  const {
    users = {},
    users_default: usual = 0,
    events_default: needed = 0,
  } = state.get("m.room.power_levels")?.content ?? {};
  const created = state.get("m.room.create")!;
  const isCreator = Number(created.content["room_version"]) >= 12 && created.sender === userId;
  return isCreator || (users[userId] ?? usual) >= needed;
}

/** As apps have it. */
export function toEvent(
  room: FakeRoom,
  event: FakeEvent,
  viewer: { userId: string; device: string },
): Content {
  const isOwn = event.sender === viewer.userId && event.device === viewer.device;
  const threaded = room.events.filter(
    ({ content }) =>
      content["m.relates_to"]?.rel_type === "m.thread" && content["m.relates_to"].event_id === event.id,
  );
  return {
    event_id: event.id,
    room_id: room.id,
    type: event.type,
    sender: event.sender,
    origin_server_ts: event.at,
    content: event.content,
    unsigned: {
      age: 1,
      ...(isOwn ? { transaction_id: event.transaction } : {}),
      ...(event.isRedacted ? { redacted_because: { type: "m.room.redaction" } } : {}),
      ...(threaded.length === 0 ? {} : { "m.relations": { "m.thread": { count: threaded.length } } }),
    },
  };
}

/** What people see: messages that are no edits, each as it was changed last. */
export function shownIn({ events }: FakeRoom): { event: FakeEvent; content: Content }[] {
  const messages = events.filter(({ type, isRedacted }) => type === "m.room.message" && !isRedacted);
  const isEdit = ({ content }: FakeEvent): boolean => content["m.relates_to"]?.rel_type === "m.replace";
  return messages
    .filter((event) => !isEdit(event))
    .map((event) => {
      const edits = messages.filter(
        (one) =>
          isEdit(one) && one.content["m.relates_to"].event_id === event.id && one.sender === event.sender,
      );
      return { event, content: edits.at(-1)?.content["m.new_content"] ?? event.content };
    });
}
