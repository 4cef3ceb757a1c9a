import * as z from "zod";
import type { PlatformIo } from "../../../ports/platform-io.ts";
import { comparable, textOfHtml } from "../text/html-text.ts";
import { idOnServer } from "../servers.ts";
import { own, ownOrGone } from "./api.ts";
import { Status } from "./entities.ts";
import { familyOf } from "./limits.ts";

const PAGE = 40;
const MAX_PAGES = 10;

/** What a status must be to be the one that was sent. */
export interface Wanted {
  readonly text: string;
  readonly spoilerText: string;
  readonly mediaIds: readonly string[];
  readonly replyTo: string | null;
}

/** Those of the account since then (milliseconds since 1970), the newest first, without what it passes on. */
export async function* listStatuses(io: PlatformIo, since: number): AsyncGenerator<Status> {
  const path = `/api/v1/accounts/${encodeURIComponent(idOnServer(io))}/statuses`;
  let maxId: string | null = null;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const query = { limit: PAGE, exclude_reblogs: true, max_id: maxId };
    const statuses: Status[] = await own(io, { method: "GET", path, query }, z.array(Status));
    for (const status of statuses) {
      // One that is boosted stands there with its own author and moment.
      if (Date.parse(status.created_at) >= since && (status.reblog ?? null) === null) yield status;
    }
    const last = statuses.at(-1);
    if (last === undefined || last.id === maxId || Date.parse(last.created_at) < since) return;
    maxId = last.id;
  }
}

/** The status that is it; null where there is none. */
export async function findStatus(io: PlatformIo, wanted: Wanted, since: number): Promise<Status | null> {
  const { keepsMediaIds } = familyOf(io.account);
  for await (const status of listStatuses(io, since)) {
    if (status.in_reply_to_id !== wanted.replyTo) continue;
    const ids = status.media_attachments.map(({ id }) => id);
    if (ids.length !== wanted.mediaIds.length) continue;
    if (ids.length > 0 && ids.every((id) => wanted.mediaIds.includes(id))) return status;
    if (ids.length > 0 && keepsMediaIds) continue;
    if (await hasText(io, status, wanted)) return status;
  }
  return null;
}

const Source = z.looseObject({ text: z.string(), spoiler_text: z.string().catch("") });

/** By what readers see; where a server has made markup of it, by what was sent. */
async function hasText(io: PlatformIo, status: Status, { text, spoilerText }: Wanted): Promise<boolean> {
  if (comparable(status.spoiler_text) !== comparable(spoilerText)) return false;
  if (isSame(textOfHtml(status.content), text)) return true;
  const source = await readSource(io, status.id);
  return source !== null && isSame(source.text, text);
}

/** The text as it was written; null where the server does not tell. */
export function readSource(io: PlatformIo, id: string): Promise<z.infer<typeof Source> | null> {
  return ownOrGone(io, { method: "GET", path: `/api/v1/statuses/${encodeURIComponent(id)}/source` }, Source);
}

function isSame(one: string, other: string): boolean {
  return comparable(withoutHosts(one)) === comparable(withoutHosts(other));
}

/** Readers see a mention of somebody elsewhere without their server. */
function withoutHosts(text: string): string {
  return text.replace(MENTION, "$1");
}

export const MENTION = /(@[\p{L}\p{N}_.-]*[\p{L}\p{N}_])@[\p{L}\p{N}][\p{L}\p{N}.-]*[\p{L}\p{N}]/gu;
