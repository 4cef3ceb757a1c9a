import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import sharp from "sharp";
import { expect, it } from "vitest";
import { z } from "zod";
import bluesky from "../../../src/platforms/bluesky/index.ts";
import type { PlatformAccount } from "../../../src/ports/platform-io.ts";
import { createFolderStore } from "../../../src/media/stores/folder-store.ts";
import { createMediaProbe } from "../../../src/media/probe/media-reader.ts";
import { createOutbound } from "../../../src/media/outbound/outbound.ts";
import { createMediaSource } from "../../../src/media/source/source.ts";
import { systemClock } from "../../../src/app/system-clock.ts";
import { PHOTO, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { createBlueskyWorld } from "../../support/bluesky.ts";
import { startPds } from "../../support/pds.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const Images = z.object({
  images: z.array(
    z.object({
      aspectRatio: z.object({ width: z.int(), height: z.int() }),
      image: z.object({ ref: z.object({ $link: z.string() }) }),
    }),
  ),
});

it.each([
  ["https://morel.us-east.host.bsky.network", 2_000_000],
  ["https://pds.example.com", 1_000_000],
  ["https://host.bsky.network.example.com", 1_000_000],
  [undefined, 1_000_000],
])("takes pictures on %s up to %s bytes", (pdsUrl, maxBytes) => {
  const account = { settings: pdsUrl === undefined ? {} : { pdsUrl } } as unknown as PlatformAccount;
  const { accepts } = bluesky.capabilitiesOf!(account, null).media;
  expect(accepts[0]).toMatchObject({ kind: "image", maxBytes, maxItems: 4 });
  expect(accepts[1]).toMatchObject({ kind: "video", maxBytes: 300_000_000 });
});

it("fetches a large photo, fits it to the network's limit and leaves out where it was taken", async () => {
  const size = { width: 2_200, height: 700, channels: 3 as const };
  const photo = await sharp(randomBytes(size.width * size.height * size.channels), { raw: size })
    .jpeg({ quality: 90 })
    .withExif({ IFD3: { GPSLatitudeRef: "N", GPSLatitude: "52/1 31/1 0/1" } })
    .toBuffer();
  expect(photo.length).toBeGreaterThan(1_000_000);
  const server = createServer((_request, response) =>
    response.writeHead(200, { "content-type": "image/jpeg" }).end(photo),
  );
  server.listen(0, "127.0.0.1");
  await using _closed = { [Symbol.asyncDispose]: async () => void server.close() };
  await once(server, "listening");
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/photo.jpg`;

  using folder = temporaryFolder();
  const pds = await startPds();
  await using outbound = createOutbound({ allowedHosts: [{ host: "127.0.0.1", port: null }] });
  const media = createMediaSource({
    outbound,
    files: createFolderStore(`${folder.path}/files`),
    folder: `${folder.path}/spool`,
    probe: createMediaProbe(),
    clock: systemClock,
    findFile: async () => null,
    downloadUrl: async () => address,
    copyUrl: async () => "",
  });
  await using world = await createBlueskyWorld({ baseUrl: pds.url, overrides: { media } });
  const user = await pds.createUser();
  const post = await world.publish(await world.connect(user), {
    caption: "Large",
    mediaUrl: address,
    metadata: { altText: "Noise" },
  });
  expect(post).toMatchObject({ status: "published", error: null });

  const { images } = Images.parse((await user.records())[0]?.value["embed"]);
  const stored = await user.blob(images[0]?.image.ref.$link ?? "");
  expect(stored.length).toBeLessThanOrEqual(1_000_000);
  const { width, height, exif } = await sharp(stored).metadata();
  expect(images[0]?.aspectRatio).toEqual({ width, height });
  expect(Math.max(width, height)).toBeLessThanOrEqual(2_000);
  expect(exif).toBeUndefined();
});

it("asks again where an answer names what is no content id", async () => {
  const pds = await startPds();
  await using world = await createBlueskyWorld({ baseUrl: pds.url });
  world.media.set(PHOTO_URL, PHOTO);
  const { outbound } = world.ctx;
  let uploads = 0;
  const request: typeof outbound.request = async (sent) => {
    const answer = await outbound.request(sent);
    if (!sent.url.includes("uploadBlob") || (uploads += 1) > 1) return answer;
    const bent = (await text(answer.body)).replace(/"\$link":"[^"]+"/, `"$link":"b${"a".repeat(58)}"`);
    return { ...answer, body: Readable.from([Buffer.from(bent)]) };
  };
  Object.assign(world.ctx, { outbound: { ...outbound, request } });
  const account = await world.connect(await pds.createUser());
  expect(await world.publish(account, { mediaUrl: PHOTO_URL })).toMatchObject({
    status: "published",
    error: null,
  });
  expect(uploads).toBe(2);
});
