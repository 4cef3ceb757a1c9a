import { hostname } from "node:os";
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import sharp from "sharp";
import type { Page } from "playwright-core";
import { plainCall } from "../src/context.ts";
import { putAwayWelcome } from "../src/access/page-sessions.ts";
import { registerWorker } from "../src/publishing/workers.ts";
import { VERSION } from "../src/domain/version.ts";
import { localCaller } from "../src/access/api-keys.ts";
import { storeUpload } from "../src/files/file-uploads.ts";
import { Readable } from "node:stream";
import { startPageHost, type PageHost } from "../test/apps/page/page-host.ts";
import { closeBrowser } from "../test/support/browser.ts";
import { addAccount, addPosts } from "../test/support/post-rows.ts";
import { queryOf } from "../test/support/handles.ts";

/*
 * Draws the pictures of the page's rooms in both themes, for a wide window and a phone. The service and its page
 * are real. Channels and posts are made up.
 */

const FOLDER = fileURLToPath(new URL("../docs/pictures/page/", import.meta.url));
const WINDOWS = [
  { name: "wide", width: 1_280, height: 800 },
  { name: "phone", width: 390, height: 800 },
] as const;

const CHANNELS = [
  { id: "acc_mastodon", provider: "mastodon", name: "Fjord Bakery", handle: "@bakery@social.example" },
  { id: "acc_bluesky", provider: "bluesky", name: "Fjord Bakery", handle: "fjordbakery.example" },
  { id: "acc_linkedin", provider: "linkedin", name: "Fjord Bakery AS" },
] as const;

const COLOURS = [
  ["#f2b36b", "#8a3f1d"],
  ["#9fc6d8", "#2d5266"],
  ["#e7d9b8", "#8c6a2f"],
  ["#c3d0a5", "#4f6137"],
] as const;

/** A loaf on a table. */
async function drawPicture([sky, crust]: readonly [string, string], at: number): Promise<Buffer> {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="900"><rect width="1200" height="900" fill="${sky}"/><circle cx="${220 + at * 230}" cy="210" r="110" fill="#fff" opacity=".65"/><rect y="640" width="1200" height="260" fill="#000" opacity=".2"/><ellipse cx="600" cy="610" rx="370" ry="210" fill="${crust}"/><path d="M380 520q60-90 120 0M540 490q60-90 120 0M700 520q60-90 120 0" stroke="${sky}" stroke-width="26" fill="none" stroke-linecap="round"/></svg>`;
  return sharp(Buffer.from(svg)).jpeg({ quality: 82 }).toBuffer();
}

// The reader of media, once it was used, lets this process read no SVG any more.
const LOAVES = await Promise.all(COLOURS.map(drawPicture));

async function upload({ ctx }: PageHost, bytes: Buffer, name: string): Promise<string> {
  const call = plainCall(ctx, localCaller());
  const body = Readable.from([bytes], { objectMode: false });
  return (await storeUpload(call, { name, altText: "A loaf of rye bread on a table", body })).file.url;
}

const PLANNED: readonly [day: number, hour: number, channel: number, text: string, picture: number | null][] =
  [
    [1, 8, 0, "The new oven is here. It took six of us to get it through the door.", 0],
    [1, 15, 1, "Rye or wheat? Tell us.", null],
    [2, 7, 1, "Dough at four in the morning", 1],
    [4, 9, 0, "We open on Saturday. The first hundred buns are on us.", 2],
    [4, 12, 1, "We open on Saturday", 2],
    [6, 8, 0, "Doors open at eight", 3],
    [6, 17, 1, "The day in ninety seconds", null],
    [8, 9, 0, "Thank you, all of you", 1],
    [11, 10, 1, "What we learned from 300 loaves", 0],
    [14, 9, 0, "Sourdough class in December: ten places", 2],
  ];

async function plan(host: PageHost): Promise<string> {
  const feed = await host.addFeed();
  await host.call("update_account", { accountId: feed, name: "My feed" });
  for (const channel of CHANNELS) await addAccount(host.ctx.store, channel);
  const pictures: string[] = [];
  for (const [at, bytes] of LOAVES.entries()) pictures.push(await upload(host, bytes, `loaf-${at + 1}.jpg`));
  const slots = [{ days: ["mon", "wed", "fri"], times: ["09:00", "17:30"] }];
  const timezone = "Europe/Oslo";
  await host.call("update_account", { accountId: "acc_mastodon", schedule: { timezone, slots } });
  const at = (day: number, hour: number): string => {
    const time = new Date(host.clock.now() + day * 86_400_000);
    time.setUTCHours(hour, 0, 0, 0);
    return time.toISOString();
  };
  for (const [day, hour, channel, caption, picture] of PLANNED)
    await host.call("schedule_post", {
      accountId: CHANNELS[channel]?.id,
      caption,
      scheduledAt: at(day, hour),
      ...(picture !== null && { mediaUrl: pictures[picture], metadata: { altText: "A loaf of rye bread" } }),
    });
  await addPosts(host.ctx.store, [
    ...["Hello from the bakery", "Meet the bakers", "A night in the bakery"].map((caption, nth) => ({
      id: `post_done_${nth}`,
      accountId: feed,
      caption,
      status: "published" as const,
      scheduledAt: at(-2 - nth * 2, 9),
    })),
    {
      id: "post_failed",
      accountId: "acc_linkedin",
      provider: "linkedin",
      caption: "We are hiring two bakers",
      status: "failed",
      scheduledAt: at(-1, 9),
    },
  ]);
  await queryOf(host.ctx.store)
    .updateTable("posts")
    .set({
      error: 'LinkedIn says: "Text exceeds the maximum length". Shorten the text, then send it again.',
    })
    .where("id", "=", "post_failed")
    .execute();
  await queryOf(host.ctx.store)
    .updateTable("accounts")
    .set({ status: "reconnect_required", status_reason: "LinkedIn has withdrawn the access." })
    .where("id", "=", "acc_linkedin")
    .execute();
  await addFigures(host, pictures);
  const { draft } = await host.call("save_draft", {
    title: "Christmas orders",
    caption: "Christmas orders are open: rye, lussekatter and marzipan ring. Order by 18 December.",
    mediaUrl: pictures[3],
    metadata: { altText: "A loaf of rye bread" },
    targets: [
      { accountId: "acc_mastodon" },
      { accountId: "acc_bluesky", caption: "Christmas orders are open. Order by 18 December." },
    ],
    scheduledAt: at(3, 10),
    labels: ["christmas"],
    submit: true,
  });
  await host.call("save_draft", {
    caption: "Question of the week",
    targets: [{ accountId: "acc_mastodon" }],
    repeat: { every: 1, unit: "week", days: ["mon"], time: "09:00", timezone },
    submit: true,
  });
  await queryOf(host.ctx.store).updateTable("accounts").set({ inspected_at: host.clock.now() }).execute();
  return draft.id;
}

const TOLD = [
  "Fresh from the oven",
  "Behind the counter",
  "The starter is ten",
  "Cardamom buns",
  "A rainy morning",
];

/** Posts of the last weeks with what the platforms told of them: mornings did better than evenings. */
async function addFigures(host: PageHost, pictures: readonly string[]): Promise<void> {
  const now = host.clock.now();
  const hours = [6, 7, 7, 11, 15, 19];
  const posts = Array.from({ length: 84 }, (_, nth) => {
    const hour = hours[nth % hours.length] ?? 7;
    const at = Math.floor((now - (2 + (nth % 27)) * 86_400_000) / 86_400_000) * 86_400_000 + hour * 3_600_000;
    const worth = 40 + ((nth * 37) % 50) + (hour < 9 ? 60 : 0) + (nth === 12 ? 240 : 0);
    return { nth, at: at + (nth % 4) * 900_000, worth, channel: CHANNELS[nth % 2 === 0 ? 0 : 1] };
  });
  await addPosts(
    host.ctx.store,
    posts.map(({ nth, at, channel }) => ({
      id: `post_told_${nth}`,
      accountId: channel.id,
      provider: channel.provider,
      caption: `${TOLD[nth % TOLD.length] ?? ""} (${nth + 1})`,
      status: "published" as const,
      scheduledAt: at,
    })),
  );
  const db = queryOf(host.ctx.store);
  for (const { nth, at, worth, channel } of posts) {
    const media_url = nth % 3 === 2 ? "" : (pictures[nth % pictures.length] ?? "");
    await db
      .updateTable("posts")
      .set({ published_at: at, media_url })
      .where("id", "=", `post_told_${nth}`)
      .execute();
    const h24 = `,,,${worth},${Math.floor(worth / 9)},${Math.floor(worth / 6)},,`;
    await db
      .insertInto("results")
      .values({
        account_id: channel.id,
        at,
        post_id: `post_told_${nth}`,
        provider: channel.provider,
        media: "i",
        next_at: null,
        step: 3,
        h1: h24,
        h24,
        d7: nth % 27 < 5 ? null : h24,
      })
      .execute();
  }
}

await using host = await startPageHost("Europe/Oslo");
const draftId = await plan(host);
// As where a publisher runs. Nothing is published here.
const self = { host: hostname(), pid: process.pid, role: "serve", version: VERSION } as const;
const hold = await registerWorker(host.ctx, self, () => {});
await putAwayWelcome(plainCall(host.ctx, localCaller()));
const open = await host.call("save_draft", {
  title: "Sourdough class",
  caption: "Sourdough class in December: three hours, ten places, one starter to take home.",
  mediaUrl: (await host.call("list_files", {})).files[0].url,
  metadata: { altText: "A loaf of rye bread" },
  targets: [{ accountId: "acc_mastodon" }, { accountId: "acc_bluesky" }],
  slot: null,
});
await mkdir(FOLDER, { recursive: true });
const ROOMS: Readonly<Record<string, string>> = {
  plan: "/app/plan",
  write: `/app/write?draft=${open.draft.id}`,
  review: `/app/review?draft=${draftId}`,
  trouble: "/app/trouble",
  results: "/app/results",
  channels: "/app/channels",
  settings: "/app/settings",
};
const only = process.argv.slice(2);
const settle = async (page: Page): Promise<void> => {
  await page.waitForLoadState("networkidle");
  await page.locator(".bones").waitFor({ state: "detached" });
};
for (const [room, path] of Object.entries(ROOMS))
  for (const { name, ...size } of WINDOWS)
    for (const theme of ["light", "dark"] as const) {
      if (only.length > 0 && !only.includes(room)) continue;
      const page = await host.open({ path, theme, ...size });
      await page.getByRole("heading", { level: 1 }).waitFor();
      await settle(page);
      const bytes = await page.screenshot();
      // Few colours: the pictures come with every checkout.
      await sharp(bytes).png({ palette: true, quality: 80 }).toFile(`${FOLDER}${room}-${name}-${theme}.png`);
      await page.context().close();
    }
await closeBrowser();
await hold.release();
