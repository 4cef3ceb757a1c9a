import type { PlatformIo } from "../../ports/platform-io.ts";
import { orNull } from "../shared/or-null.ts";
import { sendLinkedIn, urn } from "./api.ts";
import type { LinkedInPost } from "./metadata.ts";
import { toLittleText } from "./text.ts";

const postPath = ({ platformPostId }: LinkedInPost): string => `/rest/posts/${urn(platformPostId ?? "")}`;

export async function edit(post: LinkedInPost, _changed: readonly string[], io: PlatformIo): Promise<object> {
  const json = { patch: { $set: { commentary: toLittleText(post.caption ?? "") } } };
  const headers = { "x-restli-method": "PARTIAL_UPDATE" };
  await sendLinkedIn(io, { path: postPath(post), json, headers, kind: "read", isIdempotent: true });
  return {};
}

export async function remove(post: LinkedInPost, io: PlatformIo): Promise<void> {
  const call = {
    method: "DELETE",
    path: postPath(post),
    headers: { "x-restli-method": "DELETE" },
    kind: "read",
    isIdempotent: true,
  } as const;
  await orNull(sendLinkedIn(io, call));
}
