import * as z from "zod";
import { MINUTE } from "../../domain/time.ts";
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { Created, listAll } from "../shared/meta/graph.ts";
import { Id } from "../../ports/platform-values.ts";
import { settleByListing } from "../shared/settle.ts";
import { call, get } from "./api.ts";
import { classifyMild } from "./faults.ts";

/** A text as it is compared: platforms trim and fold white space. */
export function plain(text: string | null | undefined): string {
  return (text ?? "").normalize("NFC").replace(/\s+/g, " ").trim();
}

/** Where people see it; null where Instagram does not say. */
export async function permalinkOf(io: PlatformIo, id: string): Promise<string | null> {
  const schema = z.looseObject({
    permalink: z
      .url({ protocol: /^https$/ })
      .nullish()
      .catch(null),
  });
  try {
    const answer = await get(io, id, { query: { fields: "permalink" }, classify: classifyMild, schema });
    return answer.permalink ?? null;
  } catch (error) {
    // It is public all the same.
    if (error instanceof PlatformFault && error.kind === "rejected") return null;
    throw error;
  }
}

/** The first comment: once, found again by its text. */
export async function comment(io: PublishIo, mediaId: string | null, message: string): Promise<void> {
  if (mediaId === null)
    throw new PlatformFault("rejected", "Instagram does not say which post this is. Write it in the app.");
  const path = `${mediaId}/comments`;
  const Comment = z.looseObject({ id: Id, text: z.string().catch("") });
  const list = call(io, path, { method: "GET", query: { fields: "id,text" }, classify: classifyMild });
  await io.effect<string>({
    step: "comment",
    request: { message },
    send: async () => {
      const request = call(io, path, { method: "POST", form: { message }, classify: classifyMild });
      return (await io.ask(request, Created)).id;
    },
    settle: (context) =>
      settleByListing(context, {
        now: io.now(),
        settleMs: MINUTE,
        isReliable: true,
        reason: "",
        find: async () => {
          const all = await listAll(io, list, Comment, { maxPages: 4 });
          return all.find(({ text }) => plain(text) === plain(message))?.id ?? null;
        },
      }),
  });
}
