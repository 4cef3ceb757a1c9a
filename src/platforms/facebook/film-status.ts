import * as z from "zod";
import type { PlatformFault, PlatformIo } from "../../ports/platform-io.ts";
import { GoneBody } from "../shared/meta/faults.ts";
import { filmFault, orGone } from "./faults.ts";
import { askPage } from "./graph.ts";

const Words = z.string().catch("");
const Bytes = z.coerce.number().optional().catch(undefined);
const Problem = z.looseObject({ code: z.coerce.number().optional().catch(undefined) });
const Problems = { error: Problem.optional(), errors: z.array(Problem).optional() };
const Phase = z.looseObject({ status: Words, ...Problems });

const Film = z.looseObject({
  published: z.boolean().optional(),
  scheduled_publish_time: z.union([z.string(), z.number()]).optional(),
  status: z
    .looseObject({
      video_status: Words,
      // The guide spells it with one r, the reference with two.
      uploading_phase: Phase.extend({ bytes_transfered: Bytes, bytes_transferred: Bytes }).optional(),
      processing_phase: Phase.optional(),
      publishing_phase: Phase.extend({ publish_status: Words }).optional(),
    })
    .optional(),
});
type Film = z.infer<typeof Film>;

const UPLOADED: readonly string[] = ["upload_complete", "processing", "ready"];
const BEGUN: readonly string[] = ["in_progress", "complete"];
const FAILED: readonly string[] = ["error", "expired", "upload_failed"];

export interface FilmState {
  readonly isPublished: boolean;
  readonly isScheduled: boolean;
  /** Processed, or done with that. */
  readonly isReady: boolean;
  readonly isUploaded: boolean;
  /** Facebook has begun with it, which of a reel it does once it is released. */
  readonly isBegun: boolean;
  /** How much of the file is there. */
  readonly bytes: number;
  /** Why it will never be seen; null: nothing is wrong. */
  readonly fault: PlatformFault | null;
}

/** What Facebook knows of a film, or a reel that was begun; null where it is gone. */
export async function readFilm(io: PlatformIo, id: string): Promise<FilmState | null> {
  const query = { fields: "published,scheduled_publish_time,status" };
  const call = { method: "GET", path: id, query, classify: orGone } as const;
  const answer = await askPage(io, call, z.union([GoneBody, Film]));
  return "error" in answer ? null : stateOf(Film.parse(answer));
}

function stateOf({ published, scheduled_publish_time: scheduledAt, status }: Film): FilmState {
  const {
    video_status: whole = "",
    uploading_phase: uploading,
    processing_phase,
    publishing_phase,
  } = status ?? {};
  const phases = [uploading, processing_phase, publishing_phase];
  const failed = phases.find((phase) => phase?.status === "error");
  const publishStatus = publishing_phase?.publish_status ?? "";
  const isFailed = FAILED.includes(whole) || failed !== undefined || publishStatus === "error";
  const code = (failed?.error ?? failed?.errors?.[0])?.code ?? null;
  const bytes = uploading?.bytes_transfered ?? uploading?.bytes_transferred ?? 0;
  return {
    isPublished: publishStatus === "published" || (publishStatus === "" && published === true),
    isScheduled: publishStatus === "scheduled" || (publishStatus === "" && scheduledAt !== undefined),
    isReady: whole === "ready" || processing_phase?.status === "complete",
    isUploaded: uploading?.status === "complete" || UPLOADED.includes(whole),
    isBegun: BEGUN.includes(processing_phase?.status ?? ""),
    bytes,
    fault: isFailed ? filmFault(code) : null,
  };
}

const Any = z.looseObject({});

/** Whether an object of the Graph API is still there. */
export async function isThere(io: PlatformIo, id: string): Promise<boolean> {
  const call = { method: "GET", path: id, query: { fields: "id" }, classify: orGone } as const;
  return !GoneBody.safeParse(await askPage(io, call, Any)).success;
}
