import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import {
  OutboundFailure,
  type Outbound,
  type OutboundRequest,
  type OutboundResponse,
} from "../../../src/ports/outbound.ts";
import { describedBy, type Described } from "../../support/described.ts";
import { answerToken } from "./tokens.ts";
import { takeForm } from "./uploads.ts";

export const API = "https://api.pinterest.com/";
export const BUCKET = "https://pinterest-media-upload.s3-accelerate.amazonaws.com/";
export const SCOPES = ["user_accounts:read", "boards:read", "boards:write", "pins:read", "pins:write"];

export interface FakePin {
  readonly id: string;
  board_id: string;
  board_section_id: string | null;
  title: string | null;
  description: string | null;
  link: string | null;
  alt_text: string | null;
  readonly created_at: string;
  readonly source: any;
  isDeleted: boolean;
}

export interface FakeMedia {
  readonly id: string;
  /** When its file came; null: it did not. */
  uploadedAt: number | null;
  isBroken: boolean;
}

export function createState(now: () => number) {
  return {
    now,
    tokens: new Map<string, readonly string[]>(),
    codes: new Map<string, readonly string[]>(),
    refreshTokens: new Map<string, readonly string[]>(),
    boards: [
      { id: "111", name: "Horns", privacy: "PUBLIC" },
      { id: "222", name: "Posts", privacy: "PUBLIC" },
      { id: "333", name: "Hidden horns", privacy: "SECRET" },
    ],
    sections: [
      { id: "7001", name: "French horns", board: "111" },
      { id: "7002", name: "Letters", board: "222" },
      { id: "7003", name: "Parcels", board: "222" },
      { id: "7004", name: "Stamps", board: "222" },
    ],
    pins: [] as FakePin[],
    media: new Map<string, FakeMedia>(),
    /** How long a film is processed. */
    processingMs: 12_000,
    nextId: 1_000_000_000_000_000_000n,
    numbers: new Map<string, object>(),
  };
}
export type FakeState = ReturnType<typeof createState>;

/** Pinterest's own description of the operations that are called; the file names its source. */
const read = describedBy(new URL("./spec.json", import.meta.url));

type Said = { readonly status: number; readonly body: object | null };
const ok = (body: object | null, status = 200): Said => ({ status, body });
const refuse = (status: number, code: number, message: string): Said => ({ status, body: { code, message } });

const OPERATIONS: Readonly<Record<string, (state: FakeState, request: Described) => Said>> = {
  "GET /user_account": () =>
    ok({
      id: "2783136121146311751",
      username: "posthorn",
      business_name: "Posthorn Inc",
      account_type: "BUSINESS",
      profile_image: "https://i.pinimg.com/horn.jpg",
      follower_count: 42,
    }),
  "GET /boards": ({ boards }, { query }) => paged(boards, query, 2),
  "POST /boards": ({ boards, ...state }, { body }) => {
    if (boards.some(({ name }) => name.toLowerCase() === body.name.trim().toLowerCase()))
      return refuse(400, 58, "You already have a board with this name.");
    const board = { id: String(400 + boards.length), name: body.name.trim(), privacy: "PUBLIC" };
    boards.push(board);
    return ok({ ...board, created_at: new Date(state.now()).toISOString() }, 201);
  },
  "GET /boards/{board_id}/sections": ({ sections }, { id, query }) =>
    paged(
      sections.filter(({ board }) => board === id).map(({ board: _board, ...section }) => section),
      query,
      2,
    ),
  "GET /boards/{board_id}/pins": (state, { id, query }) =>
    state.boards.some((board) => board.id === id)
      ? listPins(state, query, (pin) => pin.board_id === id && pin.board_section_id === null)
      : refuse(404, 404, "Board not found."),
  "GET /boards/{board_id}/sections/{section_id}/pins": (state, { ids: [id = "", section = ""], query }) =>
    hasSection(state, id, section)
      ? listPins(state, query, (pin) => pin.board_id === id && pin.board_section_id === section)
      : refuse(404, 404, "Board or section not found."),
  "POST /media": (state) => {
    const id = nextId(state);
    state.media.set(id, { id, uploadedAt: null, isBroken: false });
    const upload_parameters = { key: `uploads/${id}`, policy: "eyJ==", "x-amz-signature": `sign-${id}` };
    return ok({ media_id: id, media_type: "video", upload_url: BUCKET, upload_parameters }, 201);
  },
  "GET /media/{media_id}": (state, { id }) => {
    const media = state.media.get(id);
    if (media === undefined) return refuse(404, 404, "Media not found.");
    return ok({ media_id: id, media_type: "video", status: statusOf(state, media) });
  },
  "POST /pins": (state, { body }) => {
    if (!state.boards.some(({ id }) => id === body.board_id)) return refuse(404, 40, "Board not found.");
    const section: string | null = body.board_section_id ?? null;
    if (section !== null && !hasSection(state, body.board_id, section))
      return refuse(404, 40, "Board section not found.");
    const source = body.media_source;
    const media = state.media.get(source.media_id ?? "");
    if (source.source_type === "video_id") {
      if (media === undefined || statusOf(state, media) !== "succeeded")
        return refuse(400, 235, "The media is not ready.");
      if (source.cover_image_key_frame_time === undefined && source.cover_image_data === undefined)
        return refuse(400, 1, "A cover image is required.");
    }
    const pin: FakePin = {
      id: nextId(state),
      board_id: body.board_id,
      board_section_id: section,
      title: trimmed(body.title),
      description: trimmed(body.description),
      link: body.link ?? null,
      alt_text: body.alt_text ?? null,
      created_at: new Date(state.now()).toISOString().slice(0, 19),
      source,
      isDeleted: false,
    };
    state.pins.push(pin);
    return ok(shownPin(pin), 201);
  },
  "GET /pins/{pin_id}": (state, { id }) => {
    const pin = findPin(state, id);
    if (pin === undefined) return refuse(404, 50, "Pin not found.");
    return ok({ ...shownPin(pin), pin_metrics: state.numbers.get(id) ?? null });
  },
  "PATCH /pins/{pin_id}": (state, { id, body }) => {
    const pin = findPin(state, id);
    if (pin === undefined) return refuse(404, 50, "Pin not found.");
    Object.assign(pin, body);
    return ok(shownPin(pin));
  },
  "DELETE /pins/{pin_id}": (state, { id }) => {
    const pin = findPin(state, id);
    if (pin === undefined) return refuse(404, 50, "Pin not found.");
    pin.isDeleted = true;
    return ok(null, 204);
  },
  "GET /pins/{pin_id}/analytics": () =>
    ok({
      all: {
        summary_metrics: { IMPRESSION: 240, OUTBOUND_CLICK: 20, SAVE: 7 },
        lifetime_metrics: { TOTAL_COMMENTS: 3, TOTAL_REACTIONS: 12 },
      },
    }),
  "GET /user_account/analytics": (_state, { query }) =>
    ok({
      all: {
        summary_metrics: { IMPRESSION: 300, SAVE: 9 },
        daily_metrics: [
          { date: query.get("start_date"), data_status: "READY", metrics: { IMPRESSION: 300, SAVE: 9 } },
          { date: query.get("end_date"), data_status: "PROCESSING", metrics: { IMPRESSION: 1 } },
        ],
      },
    }),
};

function hasSection({ sections }: FakeState, board: string, section: string): boolean {
  return sections.some((one) => one.board === board && one.id === section);
}

function listPins(state: FakeState, query: Described["query"], isListed: (pin: FakePin) => boolean): Said {
  const pins = state.pins.filter((pin) => isListed(pin) && !pin.isDeleted);
  return paged(pins.toReversed().map(shownPin), query, 3);
}

const trimmed = (text: string | null): string | null => text?.trim() ?? null;

function nextId(state: FakeState): string {
  state.nextId += 1n;
  return String(state.nextId);
}

function findPin(state: FakeState, id: string): FakePin | undefined {
  return state.pins.find((pin) => pin.id === id && !pin.isDeleted);
}

function shownPin({ source: _source, isDeleted: _isDeleted, ...pin }: FakePin): object {
  return pin;
}

function statusOf({ now, processingMs }: FakeState, { uploadedAt, isBroken }: FakeMedia): string {
  if (uploadedAt === null) return "registered";
  if (now() < uploadedAt + processingMs) return "processing";
  return isBroken ? "failed" : "succeeded";
}

/** Fewer than asked for, as Pinterest may give. */
function paged(all: readonly object[], query: Described["query"], size: number): Said {
  const from = Number(query.get("bookmark") ?? 0);
  const next = from + size < all.length ? String(from + size) : null;
  return ok({ items: all.slice(from, from + size), bookmark: next });
}

/** Pinterest's API and the bucket that films go to, as strict as their descriptions. */
export function createFakePinterest(now: () => number) {
  const state = createState(now);
  const refusals: { name: string; said: Said; headers: Record<string, string> }[] = [];
  const calls: Described[] = [];

  const callApi = async (request: OutboundRequest, bytes: Buffer): Promise<OutboundResponse> => {
    if (new URL(request.url).pathname === "/v5/oauth/token") {
      const { status, body } = answerToken(state, request, bytes.toString("utf8"));
      return answer(request, status, body);
    }
    const asked = await read({ ...request, body: bytes }, `${API}v5`);
    if (typeof asked === "string") return answer(request, 400, { code: 1, message: asked });
    calls.push(asked);
    const at = refusals.findIndex(({ name }) => name === asked.name);
    const [refusal] = at < 0 ? [] : refusals.splice(at, 1);
    if (refusal !== undefined)
      return answer(request, refusal.said.status, refusal.said.body, refusal.headers);
    const scopes = state.tokens.get((request.headers?.["authorization"] ?? "").replace("Bearer ", ""));
    if (scopes === undefined) return answer(request, 401, { code: 2, message: "Authentication failed." });
    if (asked.scopes.some((scope) => !scopes.includes(scope)))
      return answer(request, 403, { code: 3, message: "Authorization failed." });
    const said = OPERATIONS[asked.name]?.(state, asked) ?? refuse(404, 404, "Nothing is here.");
    return answer(request, said.status, said.body);
  };

  const door: Outbound = {
    request: async (request) => {
      const { body } = request;
      const bytes =
        body === undefined
          ? Buffer.alloc(0)
          : body instanceof Readable
            ? await buffer(body)
            : Buffer.from(body);
      if (request.url === BUCKET) return answer(request, takeForm(state, request, bytes), null);
      if (request.url.startsWith(API)) return callApi(request, bytes);
      throw new OutboundFailure(`Nobody is at ${request.url}.`, false);
    },
    assertAllowed: (_field, url) => new URL(url),
  };
  return {
    state,
    calls,
    door,
    /** Answers the next request of this name so, once. */
    refuse: (
      name: string,
      status: number,
      body: { code: number; message: string },
      headers: Record<string, string> = {},
    ) => void refusals.push({ name, said: { status, body }, headers }),
  };
}

function answer(
  request: OutboundRequest,
  status: number,
  body: object | null,
  headers: Record<string, string> = {},
): OutboundResponse {
  const text = body === null ? "" : JSON.stringify(body);
  return { status, headers, url: request.url, body: Readable.from([Buffer.from(text)]) };
}
