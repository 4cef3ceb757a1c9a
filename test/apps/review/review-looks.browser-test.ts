import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { objectionsTo, picture, THEMES, WIDTHS } from "../../support/looks.ts";
import { addAccount } from "../../support/post-rows.ts";
import { showApp, startHostSide, type HostSide, type ShownApp } from "../shared/app-host.ts";

const NAME = "A very long name of a channel, Donaudampfschifffahrtsgesellschaftskapitänsmütze";
const HEBREW = "חדשות היום: סיפור על קרן יער";
const AT = "2026-11-24T08:00:00Z";

let host: HostSide;

async function save(args: Record<string, unknown>): Promise<any> {
  const answer: any = await host.client.callTool({ name: "save_draft", arguments: args });
  expect(answer.isError ?? false, `${answer.content[0].text} ${JSON.stringify(args).slice(0, 80)}`).toBe(
    false,
  );
  return answer.structuredContent.draft;
}

beforeAll(async () => {
  host = await startHostSide("Europe/Berlin", "accept");
  const { store } = host.ctx;
  await addAccount(store, { id: "acc_1", name: "Fjord Bakery", provider: "mastodon" });
  await addAccount(store, { id: "acc_2", name: "Fjord Bakery", provider: "bluesky" });
  await addAccount(store, { id: "acc_3", name: NAME });
  const series = await save({
    title: "Monday bread",
    caption: "Rye today",
    targets: [{ accountId: "acc_3" }],
    repeat: { unit: "week", days: ["mon"], time: "08:00", texts: ["Rye today", "Wheat today"] },
  });
  await host.client.callTool({
    name: "decide_draft",
    arguments: { id: series.id, revision: series.revision, decision: "approve" },
  });
  await save({
    title: "Too long",
    caption: "word ".repeat(400),
    targets: [{ accountId: "acc_1" }, { accountId: "acc_2" }],
    scheduledAt: AT,
  });
  const back = await save({
    caption: HEBREW,
    targets: [{ accountId: "acc_3" }],
    scheduledAt: AT,
    submit: true,
  });
  await host.client.callTool({
    name: "decide_draft",
    arguments: {
      id: back.id,
      revision: back.revision,
      decision: "changes",
      note: "Shorter, and name the street.",
    },
  });
  await save({
    title: "Opening day",
    caption:
      "We open on Saturday at seven. The first hundred buns are on us: come early, bring a friend, and tell us which bread you miss most in your street.",
    targets: [
      {
        accountId: "acc_1",
        metadata: { thread: [{ caption: "How to find us: from the station two minutes along the fjord." }] },
      },
      { accountId: "acc_2", caption: "We open on Saturday at seven. Free buns!" },
      {
        accountId: "acc_3",
        metadata: { link: "https://fjord.example/opening" },
        mediaUrl: "https://fjord.example/pictures/oven.jpg",
      },
    ],
    metadata: { altText: "The new oven with its door open" },
    scheduledAt: AT,
    labels: ["launch", "bakery"],
    note: "The shop's sign comes on Thursday; if not, one day later.",
    submit: true,
  });
});
afterAll(() => host?.[Symbol.asyncDispose]());

const button = (shown: ShownApp, name: string | RegExp) =>
  shown.view.getByRole("button", { name, exact: typeof name === "string" });

/** The next ones lead to the draft in a narrow window, too. */
async function open(shown: ShownApp, title: string): Promise<void> {
  const heading = shown.view.getByRole("heading", { level: 2 });
  const item = shown.view.locator("#list").getByRole("button", { name: title });
  if (await item.isVisible()) await item.click();
  else while ((await heading.innerText()) !== title) await button(shown, "Next draft").click();
  await shown.view.getByRole("heading", { level: 2, name: title }).waitFor();
}

const STATES: Readonly<Record<string, (shown: ShownApp) => Promise<void>>> = {
  waiting: async () => {},
  question: (shown) => button(shown, "Approve").click(),
  writing: (shown) => button(shown, "Ask for changes").click(),
  refused: (shown) => open(shown, "Too long"),
  changes: (shown) => open(shown, HEBREW),
  series: (shown) => open(shown, "Monday bread"),
  end: async (shown) => {
    await shown.view.getByRole("heading", { level: 2 }).waitFor();
    await shown.view.locator("#draft").evaluate((element: any) => (element.scrollTop = element.scrollHeight));
  },
};

describe.each([...WIDTHS, { name: "small", width: 320 }])(
  "the review in a $name window",
  ({ name, width }) => {
    it.each([...Object.keys(STATES), "text"])(
      "(%s) has nothing that axe objects to, and fits",
      async (state) => {
        const room = state === "text" ? { containerDimensions: { maxHeight: 160, width } } : {};
        await using shown = await showApp(host, {
          tool: "list_drafts",
          width,
          context: { ...room, timeZone: "Europe/Berlin" },
        });
        await shown.view.locator("#draft :is(.cards, .brief)").waitFor();
        await STATES[state]?.(shown);
        const frame = shown.frame();
        for (const theme of THEMES) {
          await shown.page.evaluate(`window.bridge.sendHostContextChange({ theme: "${theme}" })`);
          await expect.poll(() => frame.evaluate("document.documentElement.style.colorScheme")).toBe(theme);
          await picture(shown.page, `review-${state}-${name}-${theme}`);
          // The frame's own document says what it is; a host titles and colours what is around it.
          expect([theme, await objectionsTo(frame)]).toEqual([theme, []]);
        }
        expect(shown.faults).toEqual([]);
        expect(shown.strays).toEqual([]);
      },
    );
  },
);
