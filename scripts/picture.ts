import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { showApp, startHostSide, type HostSide } from "../test/apps/shared/app-host.ts";
import { closeBrowser } from "../test/support/browser.ts";
import { addAccount, addPosts, type TestPost } from "../test/support/post-rows.ts";

/*
 * Draws the README's picture in both themes: the calendar in a conversation. The service, its answers and the
 * page are real. Only the conversation around them is drawn here.
 */

const FOLDER = fileURLToPath(new URL("../docs/pictures/", import.meta.url));
const QUESTION = "Plan our launch week on all channels.";
const ANSWER =
  "Launch week is planned: eleven posts on four channels. Drag one to another day to move it. Thursday's post on LinkedIn failed, because its access was withdrawn: reconnect the channel to send it again.";

const CHANNELS = [
  { id: "acc_1", provider: "bluesky", name: "Fjord Bakery", handle: "fjordbakery.example" },
  { id: "acc_2", provider: "mastodon", name: "Fjord Bakery", handle: "@bakery@social.example" },
  { id: "acc_3", provider: "youtube", name: "Fjord Bakery films" },
  { id: "acc_4", provider: "linkedin", name: "Fjord Bakery AS" },
];

const POSTS: readonly [at: string, channel: number, caption: string, status?: TestPost["status"]][] = [
  ["2026-11-03T08:00", 1, "The new oven is here", "published"],
  ["2026-11-06T16:00", 2, "Rye or wheat? Tell us", "published"],
  ["2026-11-10T07:30", 1, "Dough at four in the morning", "published"],
  ["2026-11-12T11:00", 3, "How we bake: the film", "published"],
  ["2026-11-17T08:00", 2, "We open on Saturday", "published"],
  ["2026-11-19T09:00", 4, "We are hiring two bakers", "failed"],
  ["2026-11-23T08:00", 1, "Launch week begins"],
  ["2026-11-24T09:00", 1, "Meet the bakers"],
  ["2026-11-24T12:00", 2, "Meet the bakers"],
  ["2026-11-25T08:00", 4, "What we learned from 300 loaves"],
  ["2026-11-26T17:00", 3, "A night in the bakery"],
  ["2026-11-27T08:00", 1, "Tomorrow: free buns"],
  ["2026-11-27T08:05", 2, "Tomorrow: free buns"],
  ["2026-11-28T07:00", 1, "Doors open"],
  ["2026-11-28T07:00", 2, "Doors open"],
  ["2026-11-28T18:00", 3, "The day in ninety seconds"],
  ["2026-11-30T09:00", 1, "Thank you, all of you"],
];

const STYLE = `
  body { margin: 0; padding: 28px 32px; font: 16px/1.5 system-ui, sans-serif; background: Canvas; color: CanvasText; }
  p { margin: 0 0 18px; }
  .question { width: fit-content; max-width: 70%; margin-left: auto; padding: 8px 16px; border-radius: 18px; background: color-mix(in srgb, CanvasText 9%, Canvas); }
`;

async function plan({ ctx }: HostSide): Promise<void> {
  for (const channel of CHANNELS) await addAccount(ctx.store, channel);
  await addPosts(
    ctx.store,
    POSTS.map(([at, channel, caption, status], index) => ({
      id: `post_${index}`,
      accountId: `acc_${channel}`,
      provider: CHANNELS[channel - 1]?.provider ?? "feed",
      caption,
      scheduledAt: `${at}:00Z`,
      ...(status === undefined ? {} : { status }),
    })),
  );
}

await using host = await startHostSide("Europe/Oslo");
await plan(host);
await mkdir(FOLDER, { recursive: true });
for (const theme of ["light", "dark"] as const) {
  await using shown = await showApp(host, {
    context: { theme },
    width: 980,
    around: `<style>:root { color-scheme: ${theme} } ${STYLE}</style><p class="question">${QUESTION}</p><p>${ANSWER}</p><div data-view></div>`,
  });
  await shown.view.locator("#grid [role=grid]").waitFor();
  await shown.page.locator("body").screenshot({ path: `${FOLDER}calendar-${theme}.png` });
}
await closeBrowser();
