import type { Draft, Target } from "../../../../src/domain/drafts/draft.ts";
import type { Post } from "../../../../src/domain/posts/post.ts";
import { isJson, type Json, textOf } from "../../../shared/json.ts";
import { toWall } from "../../../shared/wall-time.ts";
import type { Zone } from "../../../shared/zone.ts";
import {
  atTime,
  emptyForm,
  type Form,
  type Medium,
  newKey,
  newTarget,
  type TargetForm,
  type ThreadPart,
} from "./form.ts";
import { readRepeat } from "./repeat.ts";

/* A form of what the server has. */

/** The form of a draft. */
export function formOf(draft: Draft, now: number, zone: Zone): Form {
  const { scheduledAt } = draft;
  const fresh = emptyForm(now, zone);
  const empty = scheduledAt === null ? fresh : atTime(fresh, toWall(Date.parse(scheduledAt), zone));
  const metadata = draft.metadata ?? {};
  return {
    title: draft.title ?? "",
    caption: draft.caption ?? "",
    media: mediaOf(draft.mediaUrl, metadata),
    metadata: withoutMedia(metadata, "thread"),
    parts: partsOf(metadata),
    targets: draft.targets.map((target) => targetFormOf(target, zone)),
    when:
      draft.repeat !== null
        ? "repeat"
        : draft.slot !== null
          ? "slot"
          : draft.scheduledAt === null
            ? "now"
            : "at",
    at: empty.at,
    repeat: draft.repeat === null ? empty.repeat : readRepeat(draft.repeat),
    labels: draft.labels,
    note: draft.note ?? "",
  };
}

type PostContent = Pick<Post, "accountId" | "caption" | "mediaUrl" | "scheduledAt"> & {
  readonly metadata: Json | null;
};

/** The form of a post, on its one channel. */
export function formOfPost(post: PostContent, now: number, zone: Zone): Form {
  const empty = emptyForm(now, zone);
  const metadata = post.metadata ?? {};
  const at = Date.parse(post.scheduledAt);
  return {
    ...empty,
    caption: post.caption ?? "",
    media: mediaOf(post.mediaUrl, metadata),
    metadata: withoutMedia(metadata, "thread"),
    parts: partsOf(metadata),
    targets: [newTarget(post.accountId)],
    when: at > now ? "at" : "now",
    at: at > now ? toWall(at, zone) : empty.at,
  };
}

/** The form of another post like it: at its time, where that is ahead. */
export function copyOf(post: PostContent, labels: readonly string[], now: number, zone: Zone): Form {
  const form = formOfPost(post, now, zone);
  return { ...atTime({ ...form, at: emptyForm(now, zone).at }, form.at), when: "at", labels };
}

function targetFormOf(
  { accountId, caption, mediaUrl, metadata, scheduledAt }: Target,
  zone: Zone,
): TargetForm {
  const own = metadata ?? {};
  return {
    accountId,
    caption,
    media: mediaUrl === null ? null : mediaOf(mediaUrl, own),
    metadata: mediaUrl === null ? own : withoutMedia(own),
    at: scheduledAt === null ? null : toWall(Date.parse(scheduledAt), zone),
  };
}

function mediaOf(mediaUrl: string, metadata: Json): Medium[] {
  const more = Array.isArray(metadata["moreMedia"]) ? metadata["moreMedia"].filter(isJson) : [];
  const all = [{ url: mediaUrl, altText: metadata["altText"] }, ...more];
  return all.flatMap((one) => {
    const url = textOf(one["url"]);
    return url === "" ? [] : [{ key: newKey(), url, altText: textOf(one["altText"]) }];
  });
}

function partsOf({ thread }: Json): ThreadPart[] {
  const parts = Array.isArray(thread) ? thread.filter(isJson) : [];
  return parts.map((part) => {
    const url = textOf(part["mediaUrl"]);
    const medium = url === "" ? null : { key: newKey(), url, altText: textOf(part["altText"]) };
    return { key: newKey(), caption: textOf(part["caption"]), medium };
  });
}

function withoutMedia(metadata: Json, ...more: readonly string[]): Json {
  const taken = ["altText", "moreMedia", ...more];
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => !taken.includes(key)));
}
