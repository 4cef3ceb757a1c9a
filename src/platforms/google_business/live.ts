import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import type { Insights } from "../../domain/posts/post.ts";
import type { PlatformIo } from "../../ports/platform-io.ts";
import { askAs, nameOf } from "./api.ts";
import { checkPost, fieldsOf, partsOf, type BusinessPost } from "./metadata.ts";
import { readPost } from "./publish.ts";

const AnyAnswer = z.unknown();

/** Throws `conflict` for an id that is none of Google's. */
function pathOf({ platformPostId }: BusinessPost): string {
  const name = nameOf("accounts", "locations", "localPosts").safeParse(platformPostId).data;
  if (name !== undefined) return name;
  throw new AppError(
    "conflict",
    "platformPostId: is not the name of a post, so it cannot be found on Google.",
  );
}

/** What is named and not given any more is taken away. */
export async function edit(post: BusinessPost, changed: readonly string[], io: PlatformIo): Promise<object> {
  const [problem] = checkPost(post).errors;
  if (problem !== undefined) throw new AppError("invalid", problem);
  const masks = partsOf(changed);
  const fields = fieldsOf(post, io.account.settings["languageCode"]);
  const json = Object.fromEntries(Object.entries(fields).filter(([name]) => masks.includes(name)));
  const rules = [
    {
      status: 404,
      kind: "rejected",
      message: "The post is no longer on Google, so it cannot be changed.",
    },
  ] as const;
  const call = { path: `v4/${pathOf(post)}`, query: { updateMask: masks.join(",") }, json, rules };
  await askAs(io, { ...call, method: "PATCH", isIdempotent: true }, AnyAnswer);
  return {};
}

/** What is gone already is no error. */
export async function remove(post: BusinessPost, io: PlatformIo): Promise<void> {
  const rules = [{ status: 404, kind: "ok" }] as const;
  const call = { method: "DELETE", path: `v4/${pathOf(post)}`, isIdempotent: true, rules } as const;
  await askAs(io, call, AnyAnswer);
}

const STATES: Readonly<Record<string, Insights["state"]>> = {
  LIVE: "live",
  RECURRING: "live",
  SCHEDULED: "private",
  PROCESSING: "processing",
  REJECTED: "rejected",
};

/** Google tells no numbers of posts since February 2023. */
export async function insights(
  post: BusinessPost,
  io: PlatformIo,
): Promise<Pick<Insights, "state" | "visibility"> & { metrics: object }> {
  const found = await readPost(io, pathOf(post));
  const state = found === null ? "removed" : (STATES[found.state] ?? "unknown");
  return { state, visibility: state === "live" ? "public" : null, metrics: {} };
}
