import { expect, it } from "vitest";
import type { Outbound } from "../../../src/ports/outbound.ts";
import { OutboundFailure } from "../../../src/ports/outbound.ts";
import { finish } from "../../support/contract/ends.ts";
import { CLIP_URL, PDF_URL, PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import { addPost, drain } from "../../support/publishing.ts";
import { refuse, ROOM, USER } from "./fake.ts";
import { openMatrix } from "./world.ts";

it("sends a text that pings nobody, with its HTML, and tells where it is", async () => {
  await using world = await openMatrix();
  const row = await world.publish(await world.connect(), {
    caption: "@room look",
    metadata: { html: "<b>@room</b> look" },
  });
  const [{ event } = {}] = world.shown();
  expect(event?.content).toMatchObject({
    msgtype: "m.text",
    body: "@room look",
    format: "org.matrix.custom.html",
    formatted_body: "<b>@room</b> look",
    "m.mentions": {},
  });
  expect(row).toMatchObject({
    platform_post_id: event?.id,
    platform_url: `https://matrix.to/#/${encodeURIComponent(ROOM)}/${encodeURIComponent(event?.id ?? "")}?via=horn.example`,
  });
});

it("sends files by their bytes, the first with the caption and each other with its alt text", async () => {
  await using world = await openMatrix();
  const account = await world.connect();
  await world.publish(account, { caption: "Horns", mediaUrl: PHOTO_URL, metadata: PICTURES });
  await world.publish(account, { caption: null, mediaUrl: CLIP_URL, metadata: { thumbnailUrl: PHOTO_URL } });
  const [first, second, film] = world.shown().map(({ content }) => content);
  const picture = {
    msgtype: "m.image",
    filename: "image.jpg",
    info: { mimetype: "image/jpeg", w: 64, h: 48 },
  };
  expect(first).toMatchObject({ ...picture, body: "Horns" });
  expect(second).toMatchObject({ ...picture, body: "The same horn" });
  expect(film).toMatchObject({
    msgtype: "m.video",
    body: "video.mp4",
    info: { mimetype: "video/mp4", thumbnail_info: { mimetype: "image/jpeg" } },
  });
  for (const { url, info } of [first, second, film].flatMap((one) => one ?? []))
    expect(world.state.media.get(url)).toMatchObject({ type: info.mimetype, sizeBytes: info.size });
});

it("sends a document as a file, under its name", async () => {
  await using world = await openMatrix();
  await world.publish(await world.connect(), { caption: "Heard", mediaUrl: PDF_URL, metadata: {} });
  const [{ content } = {}] = world.shown();
  expect(content).toMatchObject({
    ...{ msgtype: "m.file", body: "Heard", filename: "A score.pdf" },
    info: { mimetype: "application/pdf" },
  });
  expect(world.state.media.get(content?.["url"])).toMatchObject({ name: "A score.pdf" });
});

it("warns of a further file that is refused, and keeps the post", async () => {
  await using world = await openMatrix();
  let sent = 0;
  world.state.meets = (operation) =>
    operation.includes("/send/") && ++sent > 1 ? refuse(413, "M_TOO_LARGE", "event too large") : null;
  const row = await world.publish(await world.connect(), { mediaUrl: PHOTO_URL, metadata: PICTURES });
  expect(row).toMatchObject({ status: "published", warnings: expect.stringContaining("further files") });
  expect(world.shown()).toHaveLength(1);
});

/** The answer to the first message is lost. */
function losing(door: Outbound): Outbound {
  let isLost = false;
  return {
    ...door,
    request: async (request) => {
      const answer = await door.request(request);
      if (isLost || !request.url.includes("/send/")) return answer;
      isLost = true;
      throw new OutboundFailure("It broke off.", true);
    },
  };
}

it.each([
  ["another device", async (world: Awaited<ReturnType<typeof openMatrix>>) => void (await world.signIn())],
  ["a server that forgot its transactions", async ({ state }) => state.transactions.clear()],
  ["much later", async ({ clock }) => void (await clock.advance(50 * 60_000))],
] as [string, (world: Awaited<ReturnType<typeof openMatrix>>) => Promise<void>][])(
  "finds a message whose answer was lost, from %s",
  async (_what, meanwhile) => {
    await using world = await openMatrix();
    const { id } = await addPost(world.ctx, await world.connect(), { caption: "Once" });
    await drain({ ...world.ctx, outbound: losing(world.fake) });
    for (let n = 0; n < 120; n += 1) {
      const event = { id: `$other${n}`, type: "m.room.message", sender: USER, at: world.clock.now() };
      const other = {
        device: "",
        transaction: "",
        content: { msgtype: "m.text", body: "?" },
        isRedacted: true,
      };
      world.state.rooms.get(ROOM)?.events.push({ ...event, ...other });
    }
    await meanwhile(world);
    expect(await finish(world.ctx, id)).toMatchObject({ status: "published", error: null });
    expect(world.shown()).toHaveLength(1);
  },
);

it("waits as long as the server's own field says", async () => {
  await using world = await openMatrix();
  const account = await world.connect();
  world.state.meets = () => refuse(429, "M_LIMIT_EXCEEDED", "Too Many Requests", { retry_after_ms: 45_000 });
  await addPost(world.ctx, account, { caption: "Hello" });
  await drain(world.ctx);
  expect((await world.readAccount(account)).next_allowed_at).toBe(world.clock.now() + 45_000);
});
