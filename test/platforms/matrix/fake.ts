import type { FakeClock } from "../../support/clock.ts";
import type { OutboundRequest } from "../../../src/ports/outbound.ts";
import type { Described } from "../../support/described.ts";
import { createFakeDoor, type Answer } from "../telegram/door.ts";
import { makeRoom, maySend, membershipOf, toEvent, type FakeRoom, type RoomOptions } from "./rooms.ts";
import { read, wrongTags } from "./spec.ts";

export const SERVER = "https://horn.example";
export const USER = "@horn:horn.example";
export const TOKEN = "syt_canary_access_token_0123456789";
export const PASSWORD = "canary-password-0123456789";
export const ROOM = "!news0123456789:horn.example";

interface Session {
  readonly userId: string;
  readonly device: string;
}

interface Told extends Described {
  /** What stands for each {…} of its path. */
  readonly path: Readonly<Record<string, string>>;
  readonly request: OutboundRequest;
  readonly session: Session;
}

export function refuse(status: number, errcode: string, error: string, more: object = {}): Answer {
  return { status, json: { errcode, error, ...more } };
}

const FORGOTTEN_AFTER_MS = 30 * 60_000;

/** A server as Synapse 1.160 is: strict, with transactions of each device, and rooms with their rules. */
export function createFakeMatrix(clock: Pick<FakeClock, "now">) {
  const state = {
    wrong: [] as string[],
    sessions: new Map<string, Session>([[TOKEN, { userId: USER, device: "ELEMENT" }]]),
    rooms: new Map<string, FakeRoom>(),
    transactions: new Map<string, { eventId: string; at: number }>(),
    media: new Map<string, { type: string; sizeBytes: number; name: string }>(),
    users: [
      { user_id: "@ann:horn.example", display_name: "Ann" },
      { user_id: "@hannes:far.example" },
    ] as Record<string, string>[],
    maxBytes: 50 * 1_024 * 1_024,
    takesPasswords: true,
    hasOldMediaApi: false,
    wellKnown: null as object | null,
    /** What stands in the way of a request; null: nothing. */
    meets: (_operation: string): Answer | null => null,
  };
  let serial = 0;
  const newId = (): string => `$${String(++serial).padStart(43, "e")}`;
  const addRoom = (id: string, options: RoomOptions = {}): FakeRoom => {
    const room = makeRoom(id, { members: [USER], ...options });
    state.rooms.set(id, room);
    return room;
  };
  addRoom(ROOM, { name: "News", alias: "#news:horn.example" });

  const login = ({ given }: Described): Answer => {
    if (!state.takesPasswords) return refuse(404, "M_UNRECOGNIZED", "Unrecognized request");
    const { identifier, password, device_id: device = "GENERATED" } = given;
    const isUser = ["horn", USER].includes(identifier?.user);
    if (!isUser || password !== PASSWORD) return refuse(403, "M_FORBIDDEN", "Invalid username or password");
    for (const [token, one] of state.sessions) if (one.device === device) state.sessions.delete(token);
    const token = `syt_canary_login_${++serial}_0123456789`;
    state.sessions.set(token, { userId: USER, device });
    return { status: 200, json: { user_id: USER, access_token: token, device_id: device } };
  };

  const answer = (asked: Described | string, request: OutboundRequest): Answer => {
    if (typeof asked === "string") {
      state.wrong.push(asked);
      return refuse(404, "M_UNRECOGNIZED", "Unrecognized request");
    }
    const { name, ids, body } = asked;
    const authorization = request.headers?.["authorization"];
    const isOpen = /\/(login|auth_metadata|matrix\/client)$/.test(name);
    if ((authorization === undefined) !== isOpen && !name.endsWith("/versions"))
      state.wrong.push(`${name}: how it is signed`);
    const tags = [body, body?.["m.new_content"]].flatMap((one) => wrongTags(one?.formatted_body));
    state.wrong.push(...tags.map((what) => `${name}: ${what}`));
    const met = state.meets(name);
    if (met !== null) return met;
    if (name.endsWith("/.well-known/matrix/client"))
      return state.wellKnown === null
        ? refuse(404, "M_NOT_FOUND", ".well-known not available")
        : { status: 200, json: state.wellKnown };
    if (name.endsWith("/versions")) return { status: 200, json: { versions: ["v1.11", "v1.12"] } };
    if (name.endsWith("/login")) return login(asked);
    const token = (authorization ?? "").replace("Bearer ", "");
    const session = state.sessions.get(token);
    if (session === undefined)
      return refuse(401, "M_UNKNOWN_TOKEN", "Invalid access token passed.", { soft_logout: false });
    const names = [...name.matchAll(/\{(\w+)\}/g)].map(([, one = ""], at) => [one, ids[at] ?? ""]);
    return serve({ ...asked, path: Object.fromEntries(names), request, session }, token);
  };

  const serve = (told: Told, token: string): Answer => {
    const { name, session } = told;
    switch (name.replace(/\/_matrix\/(client\/)?(v\d\/)?/, "")) {
      case "GET account/whoami":
        return { status: 200, json: { user_id: session.userId, device_id: session.device, is_guest: false } };
      case "POST logout":
        state.sessions.delete(token);
        return { status: 200, json: {} };
      case "GET media/config":
      case "GET media/v3/config":
        return state.hasOldMediaApi === name.includes("/client/")
          ? refuse(404, "M_UNRECOGNIZED", "Unrecognized request")
          : { status: 200, json: { "m.upload.size": state.maxBytes } };
      case "POST media/v3/upload":
        return upload(told);
      case "GET joined_rooms": {
        const ids = [...state.rooms.values()].filter((room) => membershipOf(room, session.userId) === "join");
        return { status: 200, json: { joined_rooms: ids.map(({ id }) => id) } };
      }
      case "POST user_directory/search": {
        const { search_term: term, limit = 10 } = told.given;
        const results = state.users.filter((one) =>
          Object.values(one).some((name) => name.toLowerCase().includes(term.toLowerCase())),
        );
        return { status: 200, json: { results: results.slice(0, limit), limited: results.length > limit } };
      }
      case "POST join/{roomIdOrAlias}":
        return join(told);
      default:
        return serveRoom(told);
    }
  };

  const upload = ({ request: { headers = {} }, query }: Told): Answer => {
    const type = headers["content-type"] ?? "";
    const sizeBytes = Number(headers["content-length"]);
    if (Number.isNaN(sizeBytes)) return refuse(400, "M_UNKNOWN", "Request must specify a Content-Length");
    if (sizeBytes > state.maxBytes) return refuse(413, "M_TOO_LARGE", "Upload request body is too large");
    const uri = `mxc://horn.example/${`Media${++serial}`.padEnd(24, "x")}`;
    state.media.set(uri, { type, sizeBytes, name: query.get("filename") ?? "" });
    return { status: 200, json: { content_uri: uri } };
  };

  const join = ({ path, session }: Told): Answer => {
    const wanted = path["roomIdOrAlias"] ?? "";
    const room = [...state.rooms.values()].find(
      ({ id, state: now }) => id === wanted || now.get("m.room.canonical_alias")?.content["alias"] === wanted,
    );
    if (room === undefined) return refuse(404, "M_NOT_FOUND", `Room alias ${wanted} not found`);
    if (room.state.get("m.room.join_rules")?.content["join_rule"] === "invite")
      if (!["join", "invite"].includes(membershipOf(room, session.userId) ?? ""))
        return refuse(403, "M_FORBIDDEN", "You are not invited to this room.");
    room.state.set(`m.room.member ${session.userId}`, {
      content: { membership: "join" },
      sender: session.userId,
    });
    return { status: 200, json: { room_id: room.id } };
  };

  const serveRoom = (told: Told): Answer => {
    const { name, path, session, query } = told;
    const { userId } = session;
    const room = state.rooms.get(path["roomId"] ?? "");
    const membership = room === undefined ? null : membershipOf(room, userId);
    if (room === undefined || membership === null)
      return refuse(403, "M_FORBIDDEN", `User ${userId} not in room ${path["roomId"]}`);
    if (name.includes("/state/")) {
      const key = `${path["eventType"]} ${path["stateKey"] ?? ""}`.trim();
      const found = room.state.get(key);
      if (found === undefined) return refuse(404, "M_NOT_FOUND", "Event not found.");
      return { status: 200, json: query.get("format") === "event" ? found : found.content };
    }
    if (membership !== "join") return refuse(403, "M_FORBIDDEN", `User ${userId} not in room ${room.id}`);
    if (name.startsWith("PUT")) return change(told, room);
    if (name.endsWith("/hierarchy")) {
      const joined = [...room.state].filter(([, { content }]) => content["membership"] === "join").length;
      return { status: 200, json: { rooms: [{ room_id: room.id, num_joined_members: joined }] } };
    }
    const see = { userId, device: session.device };
    if (name.endsWith("/messages")) {
      const { types, senders } = JSON.parse(query.get("filter") ?? "{}");
      const from = Number(query.get("from") ?? 0);
      const limit = Math.min(Number(query.get("limit") ?? 10), 100);
      const fit = room.events.filter(({ type, sender }) => types.includes(type) && senders.includes(sender));
      const chunk = fit.toReversed().slice(from, from + limit);
      // Synapse gives an end for as long as the room goes on.
      const end = chunk.length === 0 ? {} : { end: String(from + chunk.length) };
      return {
        status: 200,
        json: { start: String(from), chunk: chunk.map((one) => toEvent(room, one, see)), ...end },
      };
    }
    const event = room.events.find(({ id }) => id === path["eventId"]);
    if (event === undefined) return refuse(404, "M_NOT_FOUND", "Event not found.");
    if (!name.includes("/relations/")) return { status: 200, json: toEvent(room, event, see) };
    // Those of an event that was taken back are forgotten.
    const related = room.events.filter(
      ({ content }) =>
        !event.isRedacted &&
        content["m.relates_to"]?.event_id === event.id &&
        content["m.relates_to"].rel_type === path["relType"],
    );
    const from = Number(query.get("from") ?? 0);
    const chunk = related.slice(from, from + 2).map((one) => toEvent(room, one, see));
    const next = from + 2 < related.length ? { next_batch: String(from + 2) } : {};
    return { status: 200, json: { chunk, ...next } };
  };

  /** By transaction: a repeated one is answered with what came of the first. */
  const change = ({ name, path, session, request, body: content }: Told, room: FakeRoom): Answer => {
    const { txnId: transaction = "", eventId = "" } = path;
    const key = [session.userId, session.device, new URL(request.url).pathname].join(" ");
    const known = state.transactions.get(key);
    if (known !== undefined && clock.now() - known.at < FORGOTTEN_AFTER_MS)
      return { status: 200, json: { event_id: known.eventId } };
    if (!maySend(room, session.userId))
      return refuse(
        403,
        "M_FORBIDDEN",
        "You don't have permission to post that to the room. user_level (0) < send_level (50)",
      );
    if (JSON.stringify(content).length > 65_000) return refuse(413, "M_TOO_LARGE", "event too large");
    for (const url of [content["url"], content["info"]?.thumbnail_url])
      if (url !== undefined && !state.media.has(url)) state.wrong.push(`${url} was never uploaded`);
    const event = {
      id: newId(),
      type: name.includes("/redact/") ? "m.room.redaction" : (path["eventType"] ?? ""),
      sender: session.userId,
      at: clock.now(),
      device: session.device,
      transaction,
      content,
      isRedacted: false,
    };
    room.events.push(event);
    state.transactions.set(key, { eventId: event.id, at: clock.now() });
    const redacted = room.events.find(({ id }) => id === eventId);
    if (redacted !== undefined) Object.assign(redacted, { content: {}, isRedacted: true });
    return { status: 200, json: { event_id: event.id } };
  };

  return { ...createFakeDoor(SERVER, (request) => read(request, SERVER), answer), state, addRoom };
}
