import type { OutboundResponse } from "../../../src/ports/outbound.ts";
import type { Profile } from "./profiles.ts";
import type { Received } from "./request.ts";
import { lengthOf, stripTags, toHtml, toPixelfedHtml } from "./texts.ts";
import { answerOf } from "../../support/described.ts";

export interface FakeMedia {
  readonly id: string;
  readonly type: "image" | "video" | "audio";
  readonly uploadedAt: number;
  readonly readyAt: number;
  description: string | null;
  hasThumbnail: boolean;
  readonly focus: string | null;
  statusId: string | null;
}

export interface FakeStatus {
  readonly id: string;
  readonly createdAt: number;
  readonly replyTo: string | null;
  readonly visibility: string;
  text: string;
  spoilerText: string;
  sensitive: boolean;
  language: string | null;
  mediaIds: string[];
  poll: FakePoll | null;
  readonly quotes: string | null;
  readonly likes: number;
}

export interface FakePoll {
  readonly options: readonly string[];
  readonly multiple: boolean;
  readonly expiresAt: number;
}

/** What another person posted. */
export const QUOTED = "109344000000000001";

const DAY = 24 * 3_600_000;
const HOUR = 3_600_000;

interface Options {
  readonly now: () => number;
  readonly profile: Profile;
  readonly server: string;
  readonly account: object & { readonly id: string };
}

/** What one account has on the server. */
export function createStatuses({ now, profile, server, account }: Options) {
  const media = new Map<string, FakeMedia>();
  const statuses = new Map<string, FakeStatus>();
  const keys = new Map<string, { id: string; at: number }>();
  let last = 0;
  const isPixelfed = profile.software === "pixelfed";
  /** Pixelfed's handler of errors knows no other status for what its framework throws. */
  const notFound = (): OutboundResponse =>
    isPixelfed
      ? answerOf(500, { error: "No query results for model [App\\Status] 1" })
      : answerOf(404, { error: "Record not found" });
  const invalid = (error: string): OutboundResponse => answerOf(422, { error });
  const newId = (): string => `1093445367345${String((last += 1)).padStart(5, "0")}`;

  const free = (id: string): FakeMedia | undefined => {
    const one = media.get(id);
    return one === undefined || one.statusId !== null || one.uploadedAt < now() - DAY ? undefined : one;
  };
  const showMedia = (one: FakeMedia): object => {
    const isReady = one.readyAt <= now();
    const url = isReady ? `${server}/media/${one.id}` : null;
    const id = profile.keepsMediaIds || one.statusId === null ? one.id : `attached-${one.id}`;
    return { id, type: isReady ? one.type : "unknown", url, description: one.description };
  };
  /** As its page has it. */
  const contentOf = (id: string): string => {
    const text = statuses.get(id)?.text ?? "";
    return isPixelfed ? toPixelfedHtml(text) : toHtml(text);
  };
  const show = (status: FakeStatus): object => ({
    id: status.id,
    url: `${server}/@alice/${status.id}`,
    uri: `${server}/users/alice/statuses/${status.id}`,
    created_at: new Date(status.createdAt).toISOString(),
    content: contentOf(status.id),
    spoiler_text: status.spoilerText,
    visibility: status.visibility,
    sensitive: status.sensitive,
    language: status.language,
    in_reply_to_id: status.replyTo,
    reblog: null,
    account,
    media_attachments: status.mediaIds.map((id) => showMedia(media.get(id) as FakeMedia)),
    favourites_count: status.likes,
    replies_count: [...statuses.values()].filter(({ replyTo }) => replyTo === status.id).length,
    reblogs_count: 2,
    quotes_count: 1,
    poll:
      status.poll === null
        ? null
        : {
            options: status.poll.options.map((title) => ({ title, votes_count: 0 })),
            multiple: status.poll.multiple,
            expires_at: new Date(status.poll.expiresAt).toISOString(),
          },
  });

  const upload = ({ name, given }: Received): OutboundResponse => {
    if (name === "POST /api/v2/media" && !profile.hasV2) return answerOf(404, "<h1>404 Not Found</h1>");
    const { file } = given;
    if (!profile.mimeTypes.includes(file.type))
      return invalid("Validation failed: File content type is invalid");
    const [type = ""] = file.type.split("/");
    const readyAt = now() + (type === "image" || name === "POST /api/v1/media" ? 0 : profile.processingMs);
    const id = newId();
    const one: FakeMedia = {
      id,
      type: type as FakeMedia["type"],
      uploadedAt: now(),
      readyAt,
      description: given["description"] ?? null,
      hasThumbnail: given["thumbnail"] !== undefined,
      focus: given["focus"] ?? null,
      statusId: null,
    };
    media.set(id, one);
    return answerOf(readyAt > now() ? 202 : 200, showMedia(one));
  };

  const readMedia = (id: string): OutboundResponse => {
    const one = free(id);
    return one === undefined ? notFound() : answerOf(one.readyAt > now() ? 206 : 200, showMedia(one));
  };

  const refusalOf = (
    text: string,
    spoiler: string,
    ids: readonly string[],
    own: string | null,
  ): string | null => {
    const found = ids.flatMap((id) => {
      const one = media.get(id);
      return one !== undefined && (one.statusId === own || free(id) !== undefined) ? [one] : [];
    });
    if (text.trim() === "" && ids.length === 0) return "Validation failed: Text can't be blank";
    if (lengthOf(spoiler + text, profile) > profile.maxCharacters)
      return `Validation failed: Text character limit of ${profile.maxCharacters} exceeded`;
    if (ids.length > profile.maxMedia) return `Cannot attach more than ${profile.maxMedia} files`;
    if (found.length < ids.length)
      return `Media ${ids.join(", ")} not found or already attached to another post`;
    if (found.length > 1 && found.some(({ type }) => type !== "image"))
      return "Cannot attach a video to a post that already contains images";
    return found.some(({ readyAt }) => readyAt > now())
      ? "Cannot attach files that have not finished processing. Try again in a moment!"
      : null;
  };

  /** As PollOptionsValidator and PollExpirationValidator have it. */
  const pollRefusal = (fields: Record<string, unknown>, ids: readonly string[]): string | null => {
    const poll = fields["poll"] as { options: string[]; expires_in: number } | undefined;
    if (poll === undefined) return null;
    if (ids.length > 0) return "Cannot attach files to a post that has a poll";
    if (poll.options.length < 2) return "Validation failed: Options must be more than one item";
    if (poll.options.length > 4) return "Validation failed: Options can't contain more than 4 items";
    if (poll.options.some((one) => [...one].length > 50))
      return "Validation failed: Options can't be longer than 50 characters each";
    if (new Set(poll.options).size < poll.options.length)
      return "Validation failed: Options contain duplicates";
    return poll.expires_in < 300 || poll.expires_in > 2_629_746
      ? "Validation failed: Duration is too soon"
      : null;
  };
  const pollOf = (fields: Record<string, unknown>): FakePoll | null => {
    const poll = fields["poll"] as { options: string[]; expires_in: number; multiple?: boolean } | undefined;
    if (poll === undefined) return null;
    const expiresAt = now() + poll.expires_in * 1_000;
    return { options: poll.options, multiple: poll.multiple ?? false, expiresAt };
  };

  /** What Pixelfed's validation says, which comes first of all. */
  const unfitOf = (fields: Record<string, unknown>): string | null => {
    const ids = (fields["media_ids"] as string[] | undefined) ?? [];
    if ([...String(fields["status"] ?? "")].length > profile.maxCharacters)
      return `The status must not be greater than ${profile.maxCharacters} characters.`;
    if (ids.length > profile.maxMedia)
      return `The media ids must not have more than ${profile.maxMedia} items.`;
    return String(fields["spoiler_text"] ?? "").length > 140
      ? "The spoiler text must not be greater than 140 characters."
      : null;
  };

  const create = ({ headers, given: fields }: Received): OutboundResponse => {
    if (!profile.knowsContentType && Object.hasOwn(fields, "content_type"))
      return invalid("Validation failed: content_type is unknown");
    const unfit = isPixelfed ? unfitOf(fields) : null;
    if (unfit !== null) return answerOf(500, { message: unfit, errors: {} });
    const key = headers["idempotency-key"];
    const before = key === undefined ? undefined : keys.get(key);
    if (before !== undefined && before.at > now() - HOUR && profile.keys !== "ignored") {
      const first = statuses.get(before.id);
      if (profile.keys === "refused") return answerOf(400, { error: "Duplicate idempotency key." });
      return first === undefined ? notFound() : answerOf(200, show(first));
    }
    const text = String(fields["status"] ?? "");
    const ids = (fields["media_ids"] as string[] | undefined) ?? [];
    const spoilerText = String(fields["spoiler_text"] ?? "");
    if (profile.software === "pixelfed" && ids.length === 0 && fields["in_reply_to_id"] === undefined)
      return answerOf(403, { error: "Empty statuses are not allowed" });
    const replyTo = (fields["in_reply_to_id"] as string | undefined) ?? null;
    if (replyTo !== null && !statuses.has(replyTo)) return notFound();
    const refused = isPixelfed ? null : (refusalOf(text, spoilerText, ids, null) ?? pollRefusal(fields, ids));
    if (refused !== null) return invalid(refused);
    const quotes = (fields["quoted_status_id"] as string | undefined) ?? null;
    if (quotes !== null && quotes !== QUOTED && !statuses.has(quotes)) return notFound();
    if (isPixelfed && ids.every((one) => free(one) === undefined))
      return answerOf(400, { error: "Invalid media_ids" });
    const status: FakeStatus = {
      id: newId(),
      createdAt: now(),
      replyTo,
      visibility: String(fields["visibility"] ?? "public"),
      text: isPixelfed ? stripTags(text) : text,
      spoilerText,
      sensitive: fields["sensitive"] === true || spoilerText !== "",
      language: (fields["language"] as string | undefined) ?? "en",
      mediaIds: [...ids],
      poll: pollOf(fields),
      quotes,
      likes: 3,
    };
    statuses.set(status.id, status);
    for (const id of ids) (media.get(id) as FakeMedia).statusId = status.id;
    if (key !== undefined) keys.set(key, { id: status.id, at: now() });
    return answerOf(200, show(status));
  };

  /** As Mastodon's update service: what is not named is taken away. */
  const change = (status: FakeStatus, { given: fields }: Received): OutboundResponse => {
    const text = String(fields["status"] ?? "");
    const ids = ((fields["media_ids"] as string[] | undefined) ?? []).map((id) =>
      id.replace(/^attached-/, ""),
    );
    const spoilerText = String(fields["spoiler_text"] ?? "");
    const refused = refusalOf(text, spoilerText, ids, status.id) ?? pollRefusal(fields, ids);
    if (refused !== null) return invalid(refused);
    const attributes = (fields["media_attributes"] ?? []) as { id: string; description?: string }[];
    for (const { id, description } of attributes) {
      const one = media.get(id.replace(/^attached-/, ""));
      if (one !== undefined && description !== undefined) one.description = description;
    }
    const film = media.get(String(fields["media_attributes[][id]"] ?? ""));
    if (film !== undefined && fields["media_attributes[][thumbnail]"] !== undefined) film.hasThumbnail = true;
    const sensitive = fields["sensitive"] === true || spoilerText !== "";
    Object.assign(status, { text, spoilerText, sensitive, mediaIds: ids, poll: pollOf(fields) });
    if (typeof fields["language"] === "string") status.language = fields["language"];
    return answerOf(200, show(status));
  };

  const list = ({ id, query }: Received): OutboundResponse => {
    if (id !== account.id) return notFound();
    const maxId = query.get("max_id");
    const limit = Math.min(Number(query.get("limit") ?? 20), 40);
    const all = [...statuses.values()]
      .toReversed()
      .filter((one) => maxId === null || one.id < maxId)
      .filter(({ replyTo }) => replyTo === null || !isPixelfed);
    return answerOf(200, all.slice(0, limit).map(show));
  };

  const serve = (request: Received): OutboundResponse => {
    const { name, id } = request;
    if (name.endsWith("/media")) return upload(request);
    if (name === "GET /api/v1/media/{id}") return readMedia(id);
    if (name === "POST /api/v1/statuses") return create(request);
    if (name === "GET /api/v1/accounts/{id}/statuses") return list(request);
    const status = statuses.get(id);
    if (status === undefined) return notFound();
    if (name === "GET /api/v1/statuses/{id}") return answerOf(200, show(status));
    if (name === "GET /api/v1/statuses/{id}/source")
      return answerOf(200, { id, text: status.text, spoiler_text: status.spoilerText });
    if (name === "PUT /api/v1/statuses/{id}") return change(status, request);
    if (name !== "DELETE /api/v1/statuses/{id}" || !profile.hasDelete) return notFound();
    statuses.delete(id);
    return answerOf(200, { ...show(status), text: status.text });
  };

  /** A thread is one post of ours. */
  const heads = (): FakeStatus[] => [...statuses.values()].filter(({ replyTo }) => replyTo === null);
  return { serve, media, statuses, heads, contentOf, all: () => [...statuses.values()] };
}
