import { json, type Answer } from "../youtube/answers.ts";
import { problem } from "./spec.ts";

const MINUTE = 60_000;
const PRIVACIES = ["", "Public", "Unlisted", "Private", "Internal", "Password protected"];

export interface FakeVideo {
  readonly id: number;
  readonly uuid: string;
  readonly shortUUID: string;
  fields: Record<string, unknown>;
  readonly fileName: string;
  readonly sizeBytes: number;
  readonly uploadedAt: number;
  /** When others could see it first. */
  shownAt: number | null;
  readonly thumbnails: Buffer[];
}

/** The videos of one account, and what time makes of them. */
export function createVideos(now: () => number) {
  const all = new Map<string, FakeVideo>();
  const self = {
    all,
    channels: [7, 8],
    freeBytes: Infinity,
    /** How long a video is transcoded, and the state it ends in. */
    processingMs: 20_000,
    endState: 1,
    /** False: nothing becomes public by itself. */
    flips: true,
    /** Held back by the server's moderators. */
    blocked: false,
    /** False: a server that does not tell names of files. */
    tellsSource: true,
    listedAfterMs: 0,
    refusalOf({ channelId }: Record<string, unknown>): Answer | null {
      const isKnown = channelId === undefined || self.channels.includes(Number(channelId));
      return isKnown ? null : problem(404, "channel_not_found", "Video channel not found");
    },
    create({ filename, ...fields }: Record<string, unknown>, sizeBytes: number): FakeVideo {
      const id = all.size + 41;
      const uuid = `9c9de5e8-0a1e-484a-b099-e80766180d${id}`;
      const made = { id, uuid, shortUUID: `kkGMgK9ZtnKfYAgn${id}`, fileName: String(filename), sizeBytes };
      const video = { ...made, fields, uploadedAt: now(), shownAt: null, thumbnails: [] };
      all.set(uuid, video);
      return video;
    },
    /** Others can see them. */
    shown(): FakeVideo[] {
      turn();
      return [...all.values()].filter((video) => !isHidden(video));
    },
    get(id: string): Answer {
      const video = find(id);
      return video === undefined ? problem(404, "video_not_found", "Video not found") : json(shape(video));
    },
    source(id: string): Answer {
      const video = find(id);
      if (video === undefined || !self.tellsSource)
        return problem(404, "not_found", "Video source not found");
      return json({ inputFilename: video.fileName, filename: video.fileName, size: video.sizeBytes });
    },
    list(query: URLSearchParams): Answer {
      const listed = [...all.values()].filter(({ uploadedAt }) => now() >= uploadedAt + self.listedAfterMs);
      const count = Number(query.get("count") ?? 15);
      return json({ total: listed.length, data: listed.reverse().slice(0, count).map(shape) });
    },
    async update(id: string, { thumbnailfile, ...given }: Record<string, any>): Promise<Answer> {
      const video = find(id);
      if (video === undefined) return problem(404, "video_not_found", "Video not found");
      if (thumbnailfile !== undefined) {
        const bytes = Buffer.from(await thumbnailfile.arrayBuffer());
        if (!bytes.subarray(0, 2).equals(Buffer.from([0xff, 0xd8])))
          return problem(400, "invalid_parameters", "Incorrect request parameters: thumbnailfile", {
            "invalid-params": {
              thumbnailfile: { msg: "This thumbnail file is not supported or too large." },
            },
          });
        video.thumbnails.push(bytes);
      }
      const fields = Object.entries({ ...video.fields, ...given });
      video.fields = Object.fromEntries(fields.filter(([, value]) => String(value) !== "null"));
      turn();
      return { status: 204 };
    },
    remove: (id: string): Answer =>
      all.delete(find(id)?.uuid ?? "") ? { status: 204 } : problem(404, "video_not_found", "Video not found"),
  };

  function find(id: string): FakeVideo | undefined {
    turn();
    return [...all.values()].find(({ uuid, shortUUID, id: number }) =>
      [uuid, shortUUID, String(number)].includes(id),
    );
  }

  function stateOf({ uploadedAt, fields }: FakeVideo): number {
    if (now() >= uploadedAt + self.processingMs) return self.endState;
    return fields["waitTranscoding"] === true ? 2 : 1;
  }

  function isHidden(video: FakeVideo): boolean {
    return video.fields["privacy"] === 3 || stateOf(video) !== 1 || self.blocked;
  }

  /** The server looks once a minute for what is to be changed, and leaves what is transcoded. */
  function turn(): void {
    for (const video of all.values()) {
      const { scheduleUpdate, ...rest } = video.fields;
      const { updateAt, privacy } = (scheduleUpdate ?? {}) as { updateAt?: string; privacy?: number };
      const tick = Math.ceil(Date.parse(updateAt ?? "") / MINUTE) * MINUTE;
      if (self.flips && tick <= now() && stateOf(video) === 1) video.fields = { ...rest, privacy };
      if (!isHidden(video)) video.shownAt ??= now();
    }
  }

  function shape(video: FakeVideo): object {
    const { scheduleUpdate, privacy, ...fields } = video.fields;
    const { id, uuid, shortUUID, uploadedAt } = video;
    return {
      id,
      uuid,
      shortUUID,
      ...fields,
      privacy: { id: privacy, label: PRIVACIES[Number(privacy)] },
      state: { id: stateOf(video), label: "state" },
      ...(scheduleUpdate === undefined ? {} : { scheduledUpdate: scheduleUpdate }),
      blacklisted: self.blocked,
      blacklistedReason: self.blocked ? "Auto-blocked" : null,
      createdAt: new Date(uploadedAt).toISOString(),
      duration: 1,
      views: 12,
      likes: 3,
      dislikes: 0,
      comments: 1,
    };
  }
  return self;
}

export type FakeVideos = ReturnType<typeof createVideos>;
