import { randomBytes } from "node:crypto";
import {
  OutboundFailure,
  type Outbound,
  type OutboundRequest,
  type OutboundResponse,
} from "../../../src/ports/outbound.ts";
import { failure } from "./failure.ts";
import { NEEDED, read } from "./schemas.ts";
import { answerOf, type Described } from "../../support/described.ts";

export const SERVER = "https://misskey.example";
const USER_ID = "9zuser0001";

export interface FakeFile {
  readonly id: string;
  readonly type: string;
  readonly size: number;
  readonly comment: string | null;
  readonly isSensitive: boolean;
}

export interface FakeNote {
  readonly id: string;
  readonly createdAt: number;
  readonly text: string | null;
  readonly cw: string | null;
  readonly replyId: string | null;
  readonly fileIds: readonly string[];
  readonly visibility: string;
  readonly poll: { readonly choices: readonly string[]; readonly expiredAfter: number } | null;
}

/** What servers are set up with. */
export interface Profile {
  readonly maxNoteTextLength: number;
  readonly meta: object;
  readonly policies: {
    readonly maxFileSizeMb?: number;
    readonly uploadableFileTypes?: readonly string[];
  } | null;
}

const PROFILE: Profile = {
  maxNoteTextLength: 3_000,
  meta: { maxFileSize: 262_144_000 },
  policies: { maxFileSizeMb: 30, uploadableFileTypes: ["text/plain", "image/*", "video/*", "audio/*"] },
};

const CHANGES = ["drive/files/create", "notes/create"];

/** A Misskey server behind the outbound client, strict about every request. `wrong`: what it does not know. */
export function createFakeMisskey({
  now,
  profile: given = {},
}: {
  now: () => number;
  profile?: Partial<Profile>;
}) {
  const profile = { ...PROFILE, ...given };
  const wrong: string[] = [];
  const seen: Described[] = [];
  const files = new Map<string, FakeFile>();
  const notes = new Map<string, FakeNote>();
  const tokens = new Map<string, readonly string[]>();
  const sessions = new Map<string, string>();
  let last = 0;
  let deletedAt = -Infinity;
  /** As Misskey's: later ones sort behind. */
  const newId = (): string => now().toString(36).padStart(9, "0") + String((last += 1)).padStart(4, "0");

  const user = {
    id: USER_ID,
    username: "alice",
    name: "Alice",
    avatarUrl: `${SERVER}/avatar.webp`,
    followersCount: 42,
    notesCount: 7,
    ...(profile.policies === null ? {} : { policies: profile.policies }),
  };
  const show = (note: FakeNote): object => ({
    ...note,
    createdAt: new Date(note.createdAt).toISOString(),
    userId: USER_ID,
    renoteId: null,
    reactions: { "❤": 2, ":horn@.:": 1 },
    renoteCount: 3,
    repliesCount: [...notes.values()].filter(({ replyId }) => replyId === note.id).length,
  });

  const upload = ({ given: { file, comment = null, isSensitive, force } }: Described): OutboundResponse => {
    const { maxFileSizeMb = 250, uploadableFileTypes = ["*/*"] } = profile.policies ?? {};
    if (file.size > maxFileSizeMb * 1_048_576) return failure(413, "MAX_FILE_SIZE_EXCEEDED");
    const kinds = [file.type, `${file.type.split("/")[0]}/*`, "*/*"];
    if (!kinds.some((kind) => uploadableFileTypes.includes(kind))) return failure(400, "UNALLOWED_FILE_TYPE");
    const known = [...files.values()].find(({ size, type }) => size === file.size && type === file.type);
    if (force !== "true" && known !== undefined) return answerOf(200, known);
    const one: FakeFile = {
      id: newId(),
      ...{ type: file.type, size: file.size, comment },
      isSensitive: isSensitive === "true",
    };
    files.set(one.id, one);
    return answerOf(200, { ...one, url: `${SERVER}/files/${one.id}` });
  };

  const create = ({ given: fields }: Described): OutboundResponse => {
    const {
      text = null,
      cw = null,
      replyId = null,
      fileIds = [],
      visibility = "public",
      poll = null,
    } = fields as Partial<FakeNote>;
    if (text !== null && [...text].length > profile.maxNoteTextLength) return failure(400, "INVALID_PARAM");
    if (fileIds.some((one) => !files.has(one))) return failure(400, "NO_SUCH_FILE");
    if (replyId !== null && !notes.has(replyId)) return failure(400, "NO_SUCH_REPLY_TARGET");
    const trimmed = text === null || text.trim() === "" ? null : text.trim();
    const note = { id: newId(), createdAt: now(), text: trimmed, cw, replyId, fileIds, visibility, poll };
    notes.set(note.id, note);
    return answerOf(200, { createdNote: show(note) });
  };

  const list = ({ given: fields }: Described): OutboundResponse => {
    const {
      sinceDate = 0,
      sinceId = "",
      limit = 10,
    } = fields as {
      sinceDate?: number;
      sinceId?: string;
      limit?: number;
    };
    if (fields["userId"] !== USER_ID) return failure(400, "NO_SUCH_USER");
    const found = [...notes.values()].filter((one) => one.createdAt >= sinceDate && one.id > sinceId);
    const sorted = found.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    return answerOf(200, sorted.slice(0, limit).map(show));
  };

  const remove = (note: FakeNote): OutboundResponse => {
    // Once a second.
    if (now() - deletedAt < 1_000) return failure(429, "RATE_LIMIT_EXCEEDED", { resetMs: now() + 1_000 });
    deletedAt = now();
    notes.delete(note.id);
    return answerOf(204);
  };

  const serve = (method: string, asked: Described): OutboundResponse => {
    const { id, given } = asked;
    switch (method) {
      case "meta":
        return answerOf(200, {
          version: "2026.5.1",
          name: "Example",
          maxNoteTextLength: profile.maxNoteTextLength,
          ...profile.meta,
        });
      case "i":
        return answerOf(200, user);
      case "miauth/{session}/check": {
        const token = sessions.get(id);
        sessions.delete(id);
        return token === undefined ? answerOf(200, { ok: false }) : answerOf(200, { ok: true, token, user });
      }
      case "drive/files/create":
        return upload(asked);
      case "drive/files/update": {
        const { fileId, ...fields } = given;
        const file = files.get(String(fileId));
        return file === undefined ? failure(400, "NO_SUCH_FILE") : answerOf(200, Object.assign(file, fields));
      }
      case "notes/create":
        return create(asked);
      case "users/search-by-username-and-host": {
        const { username = "" } = given;
        const known = [
          { id: "9zuser0002", username: "bob", name: "Bob [B]", host: "b.example" },
          { id: "9zuser0003", username: "bo", name: null, host: null },
        ];
        return answerOf(
          200,
          known.filter((one) => one.username.startsWith(username)),
        );
      }
      case "users/notes":
        return list(asked);
    }
    const note = notes.get(given["noteId"]);
    if (note === undefined) return failure(400, "NO_SUCH_NOTE");
    return method === "notes/delete" ? remove(note) : answerOf(200, show(note));
  };

  const handle = async (request: OutboundRequest): Promise<OutboundResponse> => {
    const { origin } = new URL(request.url);
    if (origin !== SERVER) throw new OutboundFailure(`Nobody is at ${origin}.`, false);
    const asked = await read(request, `${SERVER}/api/`);
    if (typeof asked === "string") {
      wrong.push(asked);
      return failure(400, "INVALID_PARAM");
    }
    const method = asked.name.replace("POST ", "");
    if (CHANGES.includes(method) && request.newConnection !== true)
      wrong.push(`${method}: on a kept connection`);
    seen.push(asked);
    const token = /^Bearer (\S+)$/.exec(request.headers?.["authorization"] ?? "")?.[1];
    const granted = tokens.get(token ?? "");
    const [needed] = asked.scopes;
    if (token !== undefined && granted === undefined) return failure(401, "AUTHENTICATION_FAILED");
    if (needed !== undefined && granted === undefined) return failure(401, "CREDENTIAL_REQUIRED");
    if (needed !== undefined && granted?.includes(needed) !== true) return failure(403, "PERMISSION_DENIED");
    return serve(method, asked);
  };

  const makeToken = (permissions: readonly string[] = Object.values(NEEDED)): string => {
    const token = randomBytes(16).toString("hex");
    tokens.set(token, permissions);
    return token;
  };

  const outbound: Outbound = { request: handle, assertAllowed: (_field, url) => new URL(url) };
  return {
    door: outbound,
    wrong,
    seen,
    files,
    notes,
    tokens,
    makeToken,
    /** A person opens the address and agrees, or just comes back; where the browser goes then. */
    consent(address: string, isAllowed = true): Record<string, string> {
      const { origin, pathname, searchParams } = new URL(address);
      const session = /^\/miauth\/([0-9a-f-]{36})$/.exec(pathname)?.[1];
      const back = new URL(searchParams.get("callback") ?? "");
      if (origin !== SERVER || session === undefined || searchParams.get("name") !== "Posthorn")
        throw new Error(`The server does not show this page: ${address}`);
      const permissions = (searchParams.get("permission") ?? "").split(",");
      if (isAllowed) sessions.set(session, makeToken(permissions));
      back.searchParams.set("session", session);
      return Object.fromEntries(back.searchParams);
    },
    /** A thread is one post of ours. */
    heads: () => [...notes.values()].filter(({ replyId }) => replyId === null),
    count: (method: string) => seen.filter(({ name }) => name === `POST ${method}`).length,
  };
}

export type FakeMisskey = ReturnType<typeof createFakeMisskey>;
