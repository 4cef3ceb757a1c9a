import { SECOND } from "../../../src/domain/time.ts";
import { GraphError, showTime, UploadError, type Asked } from "./fake-http.ts";
import { isTrue, readSchedule } from "./fake-posts.ts";

/** So long Facebook is at work on a film. */
const PROCESSING_MS = 4 * SECOND;

export interface Film {
  readonly id: string;
  readonly kind: "reel" | "story" | "video";
  readonly madeAt: number;
  description: string;
  title: string;
  /** A reel's bytes come after it is begun. */
  bytes: Buffer;
  fileSize: number | null;
  /** Since when Facebook is at work on it; null: it waits for more. */
  since: number | null;
  publicAt: number | null;
  isDeleted: boolean;
  place: string | null;
  /** Pages that are asked to be its authors too. */
  readonly invited: string[];
  thumbnail: Buffer | null;
  readonly comments: { id: string; message: string; at: number }[];
}

interface File {
  readonly length: number;
  bytes: Buffer;
  handle: string | null;
}

/** Reels, films, and the sessions that bring them there. */
export class FakeFilms {
  readonly films = new Map<string, Film>();
  readonly files = new Map<string, File>();
  /** Processing ends with this error. */
  failsWith: number | null = null;
  /** A session that is asked for is gone. */
  isForgetful = false;
  /** What is published stays a draft until a person publishes it. */
  keepsDrafts = false;
  readonly #now: () => number;
  readonly #newId: () => string;

  constructor(now: () => number, newId: () => string) {
    this.#now = now;
    this.#newId = newId;
  }

  find(id: string): Film | undefined {
    const film = this.films.get(id);
    return film?.isDeleted === true ? undefined : film;
  }

  isProcessed({ since }: Film): boolean {
    return since !== null && this.#now() - since >= PROCESSING_MS && this.failsWith === null;
  }

  isVisible(film: Film): boolean {
    return (
      !film.isDeleted && film.publicAt !== null && film.publicAt <= this.#now() && this.isProcessed(film)
    );
  }

  #add(kind: Film["kind"], more: Partial<Film> = {}): Film {
    const id = this.#newId();
    const film: Film = {
      id,
      kind,
      madeAt: this.#now(),
      description: "",
      title: "",
      bytes: Buffer.alloc(0),
      fileSize: null,
      since: null,
      publicAt: null,
      isDeleted: false,
      place: null,
      invited: [],
      thumbnail: null,
      comments: [],
      ...more,
    };
    this.films.set(id, film);
    return film;
  }

  /** A reel's, or that of a story, which takes no text and no time. */
  reelStep({ given }: Asked, kind: "reel" | "story" = "reel"): object {
    if (String(given["upload_phase"]) === "start") {
      const { id } = this.#add(kind);
      return { video_id: id, upload_url: `https://rupload.facebook.com/video-upload/v25.0/${id}` };
    }
    const film = this.find(String(given["video_id"]));
    const odd = ["description", "title", "video_state", "scheduled_publish_time", "place"];
    if (kind === "story" && odd.some((name) => given[name] !== undefined))
      throw new GraphError(100, "A story has neither text nor time.");
    if (film?.kind !== kind) throw new GraphError(100, "Invalid video id", { subcode: 33 });
    if (film.fileSize === null || film.bytes.length < film.fileSize)
      throw new GraphError(6_000, "There was a problem uploading your video file.");
    if (film.publicAt !== null) throw new GraphError(100, "The video was finished before.");
    const isScheduled = given["video_state"] === "SCHEDULED";
    if (given["video_state"] === "DRAFT") throw new GraphError(100, "Nobody finishes a draft here.");
    film.publicAt = isScheduled ? readSchedule(given, this.#now(), 29) : this.#now();
    film.description = String(given["description"] ?? "");
    film.title = String(given["title"] ?? "");
    film.place = given["place"] === undefined ? null : String(given["place"]);
    film.since = this.#now();
    return kind === "reel" ? { success: true } : { success: true, post_id: `9${film.id}` };
  }

  /** Keeps what came, also of a body that broke off. */
  takeReel(id: string, { headers, body }: Pick<Asked, "headers" | "body">): object {
    const film = this.find(id);
    if (film === undefined) throw new UploadError("ProcessingFailedError");
    if (Number(headers["offset"]) !== film.bytes.length) throw new UploadError("OffsetInvalidError");
    film.fileSize = Number(headers["file_size"]);
    film.bytes = Buffer.concat([film.bytes, body]);
    if (film.bytes.length < film.fileSize) throw new UploadError("PartialRequestError");
    return { success: true };
  }

  /** Only of a reel, and each Page once. */
  invite(film: Film, { given }: Asked): object {
    const page = String(given["target_id"]);
    if (film.kind !== "reel" || !/^\d+$/.test(page) || film.invited.includes(page))
      throw new GraphError(100, "The collaborator cannot be invited.");
    film.invited.push(page);
    return { success: true };
  }

  beginFile({ given }: Asked): object {
    const id = `upload:${this.#newId()}`;
    this.files.set(id, { length: Number(given["file_length"]), bytes: Buffer.alloc(0), handle: null });
    return { id };
  }

  file(id: string): File {
    const file = this.files.get(id);
    if (file === undefined || this.isForgetful)
      throw new GraphError(100, "Unknown upload session", { subcode: 33 });
    return file;
  }

  takeFile(id: string, { headers, body }: Pick<Asked, "headers" | "body">): object {
    const file = this.file(id);
    if (Number(headers["file_offset"]) !== file.bytes.length) throw new UploadError("OffsetInvalidError");
    file.bytes = Buffer.concat([file.bytes, body]);
    if (file.bytes.length < file.length) throw new UploadError("PartialRequestError");
    file.handle ??= `handle-${id}`;
    return { h: file.handle };
  }

  addVideo({ given }: Asked): object {
    const handle = String(given["fbuploader_video_file_chunk"]);
    const file = [...this.files.values()].find((one) => one.handle === handle);
    if (file === undefined) throw new GraphError(100, "Invalid file handle");
    if (given["published"] === undefined || isTrue(given["published"]))
      throw new GraphError(100, "This fake takes films for later only.");
    const { id } = this.#add("video", {
      bytes: file.bytes,
      fileSize: file.length,
      since: this.#now(),
      description: String(given["description"] ?? ""),
      title: String(given["title"] ?? ""),
    });
    return { id };
  }

  change(film: Film, { given }: Asked): object {
    if (given["description"] !== undefined) film.description = String(given["description"]);
    if (given["name"] !== undefined) film.title = String(given["name"]);
    if (given["scheduled_publish_time"] !== undefined) film.publicAt = readSchedule(given, this.#now());
    else if (this.keepsDrafts && film.kind === "video") return { success: true };
    else if (isTrue(given["published"])) film.publicAt = Math.min(film.publicAt ?? Infinity, this.#now());
    return { success: true };
  }

  /** A person does, on the Page. */
  publishByHand(): void {
    for (const film of this.films.values()) film.publicAt ??= this.#now();
  }

  show(film: Film): object {
    const { since, publicAt } = film;
    const isVisible = this.isVisible(film);
    const isUploaded = film.fileSize !== null && film.bytes.length === film.fileSize;
    const hasFailed = this.failsWith !== null && since !== null;
    const work = since === null ? "not_started" : this.isProcessed(film) ? "complete" : "in_progress";
    const waiting = since === null ? (isUploaded ? "upload_complete" : "uploading") : "processing";
    const isHeld = publicAt !== null && publicAt > this.#now();
    return {
      id: film.id,
      description: film.description,
      title: film.title,
      created_time: showTime(film.madeAt),
      published: isVisible,
      ...(isHeld ? { scheduled_publish_time: showTime(publicAt) } : {}),
      status: {
        video_status: hasFailed ? "error" : work === "complete" ? "ready" : waiting,
        uploading_phase: {
          status: isUploaded ? "complete" : "in_progress",
          bytes_transfered: film.bytes.length,
        },
        processing_phase: hasFailed
          ? { status: "error", error: { code: this.failsWith, message: "It is not as it should be." } }
          : { status: work },
        publishing_phase: {
          status: isVisible ? "complete" : "not_started",
          publish_status: isVisible ? "published" : isHeld ? "scheduled" : "draft",
        },
      },
      views: 12,
      likes: { data: [], summary: { total_count: 2 } },
      comments: { data: [], summary: { total_count: film.comments.length } },
    };
  }
}
