import { DAY } from "../../../domain/time.ts";
import type { BucketClient } from "./client.ts";
import type { XmlElement } from "./xml.ts";

/** What a killed process left half uploaded is removed after this. */
const ABANDONED_MS = DAY;

/** Of a thousand uploads each. */
const MAX_PAGES = 20;

interface Left {
  readonly key: string;
  readonly uploadId: string;
}

/** Removes the parts of uploads that nobody finishes: a bucket keeps them, unseen and paid for, for ever. */
export async function sweepUploads(
  client: BucketClient,
  isOurKey: (key: string) => boolean,
): Promise<number> {
  let swept = 0;
  let from: Readonly<Record<string, string>> | null = {};
  for (let page = 0; from !== null && page < MAX_PAGES; page += 1) {
    const answer = await client.ask({ method: "GET", key: null, query: { uploads: "", ...from } });
    const serverTime = Date.parse(answer.headers["date"] ?? "");
    const before = (Number.isFinite(serverTime) ? serverTime : client.clock.now()) - ABANDONED_MS;
    for (const { key, uploadId } of answer.xml.flatMap((element) => abandonedSince(element, before))) {
      if (!isOurKey(key)) continue;
      await client.ask({ method: "DELETE", key, query: { uploadId } });
      swept += 1;
    }
    from = nextPage(answer.xml.at(-1));
  }
  return swept;
}

function abandonedSince({ name, fields }: XmlElement, before: number): Left[] {
  const key = fields.get("Key");
  const uploadId = fields.get("UploadId");
  // `Initiated` is missing on some servers; then nothing is known of its age.
  const isOld = Date.parse(fields.get("Initiated") ?? "") < before;
  return name === "Upload" && key !== undefined && uploadId !== undefined && isOld ? [{ key, uploadId }] : [];
}

function nextPage(root: XmlElement | undefined): Readonly<Record<string, string>> | null {
  if (root?.fields.get("IsTruncated") !== "true") return null;
  const key = root.fields.get("NextKeyMarker");
  const uploadId = root.fields.get("NextUploadIdMarker");
  return key === undefined || uploadId === undefined
    ? null
    : { "key-marker": key, "upload-id-marker": uploadId };
}
