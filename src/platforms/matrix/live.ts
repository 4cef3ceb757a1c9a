import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { mentionToken } from "../../domain/posts/mentions.ts";
import type { Choice, PlatformAnalytics, PostInsights } from "../../ports/platform.ts";
import type { JsonObject, PlatformIo } from "../../ports/platform-io.ts";
import { askAs, askOrGone, roomOf, roomPath } from "./api.ts";
import { type MatrixPost, textOf } from "./metadata.ts";
import { KEY_FIELD, sendEvent, stepOf } from "./publish.ts";
import { idReader, onlyFollowers } from "../shared/live.ts";
import { collect, pages } from "../shared/pages.ts";

const idOf = idReader("is not the id of a message, so the post cannot be found on Matrix.");

const Content = z.record(z.string(), z.json());

const Event = z.looseObject({
  content: Content,
  unsigned: z
    .looseObject({
      redacted_because: z.unknown().optional(),
      "m.relations": z
        .looseObject({
          "m.thread": z
            .looseObject({ count: z.int().min(0) })
            .optional()
            .catch(undefined),
        })
        .optional()
        .catch(undefined),
    })
    .optional(),
});
type Event = z.infer<typeof Event>;

/** Null where it is not there, or was taken back: then it has no content. */
async function readEvent(io: PlatformIo, eventId: string): Promise<Event | null> {
  const path = `${roomPath(roomOf(io.account).roomId)}/event/${encodeURIComponent(eventId)}`;
  const event = await askOrGone(io, { path }, Event);
  const isGone =
    event?.unsigned?.redacted_because !== undefined || Object.keys(event?.content ?? {}).length === 0;
  return isGone ? null : event;
}

/** An event that takes the place of the first one; a file stays. */
export async function edit(post: MatrixPost, _changed: readonly string[], io: PlatformIo): Promise<object> {
  const eventId = idOf(post);
  const event = await readEvent(io, eventId);
  if (event === null)
    throw new AppError("conflict", "The message is not in the room any more, so it cannot be changed.");
  const { format: _format, formatted_body: _html, [KEY_FIELD]: _key, ...kept } = event.content;
  const { msgtype, filename } = kept;
  const caption = post.caption ?? "";
  const isUntold = caption === "" && typeof filename === "string";
  const text = isUntold ? textOf(filename) : textOf(caption, post.metadata);
  const fresh = { ...kept, ...text, msgtype: msgtype ?? "m.text" };
  await sendEvent(
    io,
    {
      // For apps that know no edits.
      ...kept,
      body: filename === undefined ? `* ${text.body}` : text.body,
      // Of an edit, only who is new is pinged.
      "m.mentions": newIn(fresh, kept),
      "m.new_content": fresh,
      "m.relates_to": { rel_type: "m.replace", event_id: eventId },
    },
    `edit ${io.now()} ${eventId}`,
  );
  return {};
}

const Mentions = z.looseObject({ user_ids: z.array(z.string()) });

function newIn(fresh: JsonObject, before: JsonObject): JsonObject {
  const idsIn = (content: JsonObject) => Mentions.safeParse(content["m.mentions"]).data?.user_ids ?? [];
  const known = idsIn(before);
  const ids = idsIn(fresh).filter((id) => !known.includes(id));
  return ids.length === 0 ? {} : { user_ids: ids };
}

const Page = z.looseObject({
  chunk: z.array(z.looseObject({ event_id: z.string() })),
  next_batch: z.string().optional(),
});

const MAX_PAGES = 20;

/** What refers to an event in this way. */
function listRelations(io: PlatformIo, eventId: string, type: string): Promise<string[]> {
  const room = roomPath(roomOf(io.account).roomId, "v1");
  const path = `${room}/relations/${encodeURIComponent(eventId)}/${type}`;
  return collect(
    pages(MAX_PAGES, async (from) => {
      const answer = await askOrGone(io, { path, query: { limit: 100, from } }, Page);
      return { items: (answer?.chunk ?? []).map(({ event_id: id }) => id), next: answer?.next_batch };
    }),
  );
}

/** Its further messages, last one first, then its edits, which hold the text too, then itself. */
export async function remove(post: MatrixPost, io: PlatformIo): Promise<void> {
  const eventId = idOf(post);
  const more = (post.metadata.moreMedia ?? []).map((_item, at) => io.resultOf(stepOf(at + 1)));
  const edits = await listRelations(io, eventId, "m.replace");
  for (const id of [...more.toReversed(), ...edits, eventId])
    if (typeof id === "string") await redact(io, id);
}

/** Once taken back, an event is not taken back again. */
async function redact(io: PlatformIo, eventId: string): Promise<void> {
  if ((await readEvent(io, eventId)) === null) return;
  const id = encodeURIComponent(eventId);
  const path = `${roomPath(roomOf(io.account).roomId)}/redact/${id}/${encodeURIComponent(`redact ${eventId}`)}`;
  await askAs(io)(
    { method: "PUT", path, json: {}, isIdempotent: true, newConnection: true },
    z.looseObject({}),
  );
}

/** Reactions, and the messages of its thread: nothing else is counted. */
export async function insights(post: MatrixPost, io: PlatformIo): Promise<PostInsights> {
  const eventId = idOf(post);
  const event = await readEvent(io, eventId);
  if (event === null) return { state: "removed", visibility: null, metrics: {} };
  const likes = (await listRelations(io, eventId, "m.annotation")).length;
  const comments = event.unsigned?.["m.relations"]?.["m.thread"]?.count ?? 0;
  return { state: "live", visibility: null, metrics: { likes, comments } };
}

const Hierarchy = z.looseObject({
  rooms: z.array(z.looseObject({ room_id: z.string(), num_joined_members: z.int().min(0) })),
});

/** Members of the room, as they are now. */
export async function analytics(_range: object, io: PlatformIo): Promise<PlatformAnalytics> {
  const { roomId } = roomOf(io.account);
  const call = { path: `${roomPath(roomId, "v1")}/hierarchy`, query: { limit: 1 } };
  const { rooms } = await askAs(io)(call, Hierarchy);
  return onlyFollowers("Matrix", rooms.find(({ room_id: id }) => id === roomId)?.num_joined_members);
}

const MAX_USERS = 25;

const Users = z.looseObject({
  results: z.array(z.looseObject({ user_id: z.string(), display_name: z.string().nullish() })),
});

/** People whom the server knows: at least those of public rooms and of rooms that the account is in. */
export async function mentionChoices(search: string, io: PlatformIo): Promise<readonly Choice[]> {
  if (search === "") return [];
  const json = { search_term: search, limit: MAX_USERS };
  const call = {
    method: "POST",
    path: "/client/v3/user_directory/search",
    json,
    isIdempotent: true,
  } as const;
  const { results } = await askAs(io)(call, Users);
  return results.map(({ user_id: id, display_name: name }) => ({
    value: mentionToken(name ?? id.slice(1), id),
    label: name === undefined || name === null ? id : `${name} (${id})`,
  }));
}
