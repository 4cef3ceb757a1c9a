import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import sharp, { type Exif } from "sharp";
import { afterEach, beforeEach, expect, it } from "vitest";
import { guestCall } from "../../../src/context.ts";
import { connectWithSecrets } from "../../../src/channels/connecting/connections.ts";
import { storeUpload } from "../../../src/files/file-uploads.ts";
import { deleteFile, openCopy, openDownload } from "../../../src/files/files.ts";
import webhook from "../../../src/platforms/webhook/index.ts";
import { findAccountRow } from "../../../src/store/queries/accounts.ts";
import { callerOf, callOf } from "../../support/context.ts";
import { createFileContext, type FileContext } from "../../support/file-context.ts";
import { fixture } from "../../support/media.ts";
import { addPost, drain, readPost } from "../../support/publishing.ts";
import { startReceiver, type Receiver } from "../../support/webhook-receiver.ts";

/* What a receiver fetches after its post is finished, out of a real store. */

let ctx: FileContext;
let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
  ctx = await createFileContext({
    platformList: [webhook],
    publicUrl: async () => "https://posts.example",
  });
});
afterEach(async () => {
  await ctx[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

const PLACE = { GPSLatitudeRef: "N", GPSLatitude: "48/1 8/1 14/1" };
const photo = (exif?: Exif) => {
  const drawn = sharp({ create: { width: 40, height: 30, channels: 3, background: "teal" } });
  return (exif === undefined ? drawn : drawn.withExif(exif)).jpeg().toBuffer();
};

async function upload(bytes: Buffer): Promise<{ id: string; url: string }> {
  const body = Readable.from([bytes]);
  return (await storeUpload(callOf(ctx), { name: null, altText: "A horn", body })).file;
}

/** What the receiver is told of the media of a post, once that is finished. */
async function deliver(mediaUrl: string, metadata: object = {}): Promise<any> {
  const target = { provider: "webhook", secrets: { url: receiver.url } };
  const { account } = await connectWithSecrets(callOf(ctx), target);
  const row = await findAccountRow(ctx.store, callerOf().ownerId, account.id);
  const post = await addPost(ctx, row!, {
    caption: "A horn",
    media_url: mediaUrl,
    metadata: JSON.stringify(metadata),
  });
  await drain(ctx);
  expect(await readPost(ctx, post.id)).toMatchObject({ status: "published", error: null });
  return JSON.parse(receiver.deliveries.at(-1)!.body).data;
}

async function fetched(address: string): Promise<Buffer> {
  const { pathname, searchParams } = new URL(address);
  const [, id = "", purpose] = /\/files\/([^/]+)\/(\w+)$/.exec(pathname) ?? [];
  const parts = { id, expires: searchParams.get("expires")!, signature: searchParams.get("signature")! };
  const file = await (purpose === "copy" ? openCopy : openDownload)(guestCall(ctx), parts);
  return buffer(file.read());
}

it("gives a picture without where, with what and by whom it was taken, for as long as it says", async () => {
  const taken = { IFD0: { Artist: "Alice" }, IFD2: { BodySerialNumber: "SN-12345678" }, IFD3: PLACE };
  const file = await upload(await photo(taken));
  const more = await upload(fixture("phone.heic"));
  const metadata = { moreMedia: [{ url: more.url }], thumbnailUrl: file.url };
  const { media, thumbnail } = await deliver(file.url, metadata);
  for (const [at, one] of [...media, thumbnail].entries()) {
    const bytes = await fetched(one.url);
    const { exif, xmp, iptc, width, height } = await sharp(bytes).metadata();
    expect({ exif, xmp, iptc }).toEqual({});
    expect(bytes.includes("SN-12345678")).toBe(false);
    const size = at === 1 ? { width: 800, height: 1_000 } : { width: 40, height: 30 };
    expect({ width, height }).toEqual(size);
    expect(one).toMatchObject({ mimeType: "image/jpeg", sizeBytes: bytes.length, ...size });
  }
});

it("gives one that tells nothing as it is", async () => {
  const bytes = await photo();
  const { media } = await deliver((await upload(bytes)).url);
  expect(media[0].url).toContain("/download?");
  expect((await fetched(media[0].url)).equals(bytes)).toBe(true);
});

it("keeps the clean picture as long as its file", async () => {
  const file = await upload(await photo({ IFD3: PLACE }));
  const { media } = await deliver(file.url);
  await deleteFile(callOf(ctx), { id: file.id });
  await expect(fetched(media[0].url)).rejects.toMatchObject({ kind: "not_found" });
  expect(await ctx.files.size(`clean/${file.id}`)).toBeNull();
});
