import { DAY, MINUTE, SECOND } from "../../../src/domain/time.ts";
import { GraphError, showTime, type Asked } from "./fake-http.ts";

interface Photo {
  readonly madeAt: number;
  readonly isTemporary: boolean;
  readonly altText: string | null;
  isUsed: boolean;
}

export interface PagePost {
  readonly id: string;
  message: string;
  readonly link: string | null;
  readonly place: string | null;
  readonly background: string | null;
  readonly photos: readonly string[];
  readonly madeAt: number;
  readonly app: string;
  /** Null: nobody will see it by itself. */
  publicAt: number | null;
  readonly comments: { id: string; message: string; at: number }[];
}

/** The time of its own schedule: 10 minutes to 30 days ahead. Throws as Facebook refuses others. */
export function readSchedule(given: Asked["given"], now: number, maxDays = 30): number {
  const at = Number(given["scheduled_publish_time"]) * SECOND;
  if (at >= now + 10 * MINUTE && at <= now + maxDays * DAY) return at;
  throw new GraphError(100, "The specified scheduled publish time is invalid.", { subcode: 1_366_046 });
}

export function isTrue(value: unknown): boolean {
  return String(value) === "true";
}

/** How the list of a Page shows one. */
export function showStory(mediaId: string, kind: "photo" | "video", madeAt: number, now: number): object {
  return {
    post_id: `9${mediaId}`,
    status: now - madeAt < DAY ? "PUBLISHED" : "ARCHIVED",
    creation_time: String(Math.floor(madeAt / SECOND)),
    media_type: kind,
    media_id: mediaId,
    url: `https://www.facebook.com/stories/${mediaId}`,
  };
}

/** Feed and pictures of one Page. */
export class FakePosts {
  /** When a picture became a story, by the picture. */
  readonly stories = new Map<string, number>();
  readonly posts = new Map<string, PagePost>();
  readonly photos = new Map<string, Photo>();
  /** Facebook does not publish what it was to publish by itself. */
  isStuck = false;
  readonly #pageId: string;
  readonly #now: () => number;
  readonly #newId: () => string;

  constructor(pageId: string, now: () => number, newId: () => string) {
    this.#pageId = pageId;
    this.#now = now;
    this.#newId = newId;
  }

  isVisible({ publicAt, madeAt }: PagePost): boolean {
    const isOwnSchedule = publicAt !== null && publicAt > madeAt;
    return publicAt !== null && publicAt <= this.#now() && !(isOwnSchedule && this.isStuck);
  }

  /** The newest first. */
  list(isScheduled: boolean): PagePost[] {
    const all = [...this.posts.values()].reverse();
    return all.filter(
      (post) => (isScheduled ? post.publicAt !== null : true) && this.isVisible(post) !== isScheduled,
    );
  }

  addPhoto({ given }: Asked): object {
    const source = given["source"] as Buffer;
    const isPicture = source?.[0] === 0xff || source?.[0] === 0x89;
    if (!isPicture) throw new GraphError(324, "Requires upload file");
    if (source.length > 4_000_000)
      throw new GraphError(1, "Your photos couldn't be uploaded.", { subcode: 1_366_046 });
    if (given["published"] === undefined || isTrue(given["published"]))
      throw new GraphError(100, "This fake takes pictures for other posts only.");
    const id = this.#newId();
    const altText = given["alt_text_custom"] === undefined ? null : String(given["alt_text_custom"]);
    const isTemporary = isTrue(given["temporary"]);
    this.photos.set(id, { madeAt: this.#now(), isTemporary, altText, isUsed: false });
    return { id };
  }

  findPhoto(id: string): Photo | undefined {
    const photo = this.photos.get(id);
    const isDropped = photo !== undefined && !photo.isUsed && this.#now() - photo.madeAt > DAY;
    return isDropped ? undefined : photo;
  }

  addStory({ given }: Asked): object {
    const id = String(given["photo_id"]);
    const photo = this.findPhoto(id);
    if (photo === undefined) throw new GraphError(100, "Invalid photo id", { subcode: 33 });
    if (photo.isUsed) throw new GraphError(100, "The photo was posted before.", { subcode: 1_366_051 });
    photo.isUsed = true;
    this.stories.set(id, this.#now());
    return { success: true, post_id: `9${id}` };
  }

  addPost({ given }: Asked, app: string): object {
    const now = this.#now();
    const media = (given["attached_media"] ?? []) as { media_fbid: string }[];
    const photos = media.map(({ media_fbid }) => media_fbid);
    const [message, link] = [String(given["message"] ?? ""), (given["link"] as string | undefined) ?? null];
    if (message === "" && link === null && photos.length === 0) throw new GraphError(100, "Post is empty");
    if (link !== null && photos.length > 0) throw new GraphError(100, "A link and media exclude each other.");
    if (link?.includes("facebook.com") === true)
      throw new GraphError(100, "The attachment cannot be shared.", { subcode: 1_609_008 });
    const [place = null, background = null] = [given["place"], given["text_format_preset_id"]] as (
      string | undefined
    )[];
    const isBare = link === null && photos.length === 0 && message.length <= 130;
    if (background !== null && !isBare) throw new GraphError(100, "It takes no background.");
    const isDirect = given["published"] === undefined || isTrue(given["published"]);
    if (isDirect && given["scheduled_publish_time"] !== undefined)
      throw new GraphError(100, "You cannot specify a scheduled publish time on a published post.");
    const publicAt = isDirect ? now : readSchedule(given, now);
    for (const id of photos) {
      const photo = this.findPhoto(id);
      if (photo === undefined || photo.isUsed) throw new GraphError(100, "Invalid parameter: attached_media");
      if (!isDirect && !photo.isTemporary)
        throw new GraphError(100, "Photos must be temporary to be scheduled.");
    }
    const last = [...this.posts.values()].at(-1);
    const isSame =
      last?.message === message && last.link === link && last.photos.length + photos.length === 0;
    if (isSame) throw new GraphError(506, "Duplicate status message");
    for (const id of photos) Object.assign(this.photos.get(id) as Photo, { isUsed: true });
    const id = `${this.#pageId}_${this.#newId()}`;
    const shown = { message, link, place, background, photos };
    this.posts.set(id, { id, ...shown, madeAt: now, app, publicAt, comments: [] });
    return { id };
  }

  change(post: PagePost, { given }: Asked, app: string): object {
    if (post.app !== app) throw new GraphError(200, "Permissions error");
    if (given["message"] !== undefined) post.message = String(given["message"]);
    if (given["scheduled_publish_time"] !== undefined) post.publicAt = readSchedule(given, this.#now());
    if (isTrue(given["is_published"]) && !this.isVisible(post))
      Object.assign(post, { publicAt: post.madeAt });
    return { success: true };
  }

  show(post: PagePost): object {
    const isVisible = this.isVisible(post);
    const [first] = post.photos;
    const targets = post.photos.map((id) => ({ target: { id } }));
    const attachments =
      first === undefined
        ? post.link === null
          ? undefined
          : { data: [{ unshimmed_url: post.link, target: { url: post.link } }] }
        : {
            data: [targets.length === 1 ? { target: { id: first } } : { subattachments: { data: targets } }],
          };
    return {
      id: post.id,
      ...(post.message === "" ? {} : { message: post.message }),
      created_time: showTime(post.madeAt),
      is_published: isVisible,
      ...(isVisible || post.publicAt === null ? {} : { scheduled_publish_time: post.publicAt / SECOND }),
      application: { id: post.app, name: "Posthorn" },
      ...(attachments === undefined ? {} : { attachments }),
      reactions: { data: [], summary: { total_count: 3 } },
      comments: { data: [], summary: { total_count: post.comments.length } },
    };
  }
}
