import { agent, disconnect, reconnect } from "./acts-access.ts";
import { draft } from "./acts-drafts.ts";
import { series } from "./acts-series.ts";
import { hook } from "./receivers.ts";
import type { Deed } from "./history.ts";
import {
  type Act,
  type Asked,
  idIn,
  iso,
  momentIn,
  newWish,
  type People,
  timeIn,
  type Turn,
} from "./people.ts";

const WHEN = ["time", "time", "time", "now", "slot"] as const;

async function schedule(people: People, when = people.world.pick(WHEN)): Promise<void> {
  const { world } = people;
  const channel = world.pick(people.channels);
  const name = people.newName();
  const at = momentIn(people, world.between(5_000, 8 * 60_000));
  const hasKey = world.chance(0.4);
  const args = {
    accountId: channel.id,
    caption: `${name} v1`,
    ...(when === "time" ? { scheduledAt: iso(at) } : {}),
    ...(when === "slot" ? { slot: "next" } : {}),
    ...(hasKey ? { idempotencyKey: `key ${name}` } : {}),
  };
  const asked = [people.ask("schedule_post", args)];
  // Impatient ones ask twice, with one key.
  if (hasKey && world.chance(0.5)) asked.push(people.ask("schedule_post", args));
  const first = asked[0]?.deed;
  if (first === undefined) return;
  const version = { text: args.caption, scheduledAt: when === "time" ? at : -Infinity, deed: first };
  const wish = newWish(name, channel, [version]);
  people.wishes.push(wish);
  const done = await untilDone(people, asked, hasKey ? 3 : 0);
  wish.id = done === null ? null : idIn(done, "post");
  if (when === "slot") wish.slotAt = timeIn(done ?? undefined);
}

/** Several want the next slot at once. */
async function crowd(people: People): Promise<void> {
  await Promise.all([1, 2, 3].map(() => schedule(people, "slot")));
}

/** Several posts in one call: each stands for itself, or all or none. */
async function batch(people: People): Promise<void> {
  const { world } = people;
  const channel = world.pick(people.channels);
  const atomic = world.chance(0.5);
  const posts = Array.from({ length: world.between(2, 4) }, () => {
    const at = momentIn(people, world.between(5_000, 8 * 60_000));
    return {
      name: people.newName(),
      at: world.chance(0.6) ? null : at,
      channel: world.chance(0.7) ? channel : world.pick(people.channels),
    };
  });
  const key = world.chance(0.5) ? { idempotencyKey: `batch ${posts[0]?.name}` } : {};
  const args = {
    posts: posts.map(({ name, at, channel: { id } }) => ({
      accountId: id,
      caption: `${name} v1`,
      ...(at === null ? { slot: "next" } : { scheduledAt: iso(at) }),
    })),
    atomic,
    ...key,
  };
  const asked = people.ask("schedule_posts", args);
  if (asked === null) return;
  const { deed } = asked;
  const wishes = posts.map(({ name, at, channel: to }) =>
    newWish(name, to, [{ text: `${name} v1`, scheduledAt: at ?? -Infinity, deed }]),
  );
  people.wishes.push(...wishes);
  const done = await untilDone(people, [asked], "idempotencyKey" in args ? 3 : 0);
  const results = (done?.answer["results"] ?? []) as { post: { id: string; scheduledAt: string } | null }[];
  for (const [index, wish] of wishes.entries()) {
    const post = results[index]?.post ?? null;
    const [first] = wish.versions;
    wish.id = post?.id ?? null;
    if (post !== null && posts[index]?.at === null) wish.slotAt = Date.parse(post.scheduledAt);
    if (post === null && done !== null && first !== undefined)
      wish.versions[0] = { ...first, deed: { ...deed, outcome: "refused" } };
  }
}

/** Asks again where no answer came, unless the database was put back meanwhile. With one key, or of one table, they are one deed: the first. */
async function untilDone(
  people: People,
  asked: readonly (Asked | null)[],
  maxTries: number,
): Promise<Deed | null> {
  const deeds = (await Promise.all(asked.map((one) => one?.over))).filter((deed) => deed !== undefined);
  const [first] = deeds;
  if (first === undefined) return null;
  const isOpen = (): boolean =>
    first.isForgotten !== true && deeds.every(({ outcome }) => outcome === "unknown");
  for (let tries = 0; tries < maxTries && isOpen(); tries += 1)
    deeds.push(...((await people.ask(first.tool, first.args)?.over.then((deed) => [deed])) ?? []));
  const done = deeds.find(({ outcome }) => outcome === "done");
  if (done !== undefined) Object.assign(first, { outcome: "done", answer: done.answer });
  else if (deeds.some(({ outcome }) => outcome === "unknown")) first.outcome = "unknown";
  return done ?? null;
}

/** A table, of which each row is a post. Who has no answer gives it once more. */
async function importTable(people: People): Promise<void> {
  const { world } = people;
  const table = `table ${people.newName()}`;
  const rows = Array.from({ length: world.between(2, 5) }, () => ({
    channel: world.pick(people.channels),
    name: people.newName(),
    at: momentIn(people, world.between(20_000, 8 * 60_000)),
  }));
  const lines = rows.map(({ channel, name, at }) => `${channel.id},${iso(at)},${name} v1`);
  const key = world.chance(0.5) ? { idempotencyKey: table } : {};
  const args = { csv: ["accountId,scheduledAt,caption", ...lines].join("\n"), dryRun: false, ...key };
  const asked = [people.ask("import_posts", args)];
  if (world.chance(0.4)) asked.push(people.ask("import_posts", args));
  const deed = asked[0]?.deed;
  if (deed === undefined) return;
  const wishes = rows.map(({ channel, name, at }) => ({
    ...newWish(name, channel, [{ text: `${name} v1`, scheduledAt: at, deed }]),
    table,
  }));
  people.wishes.push(...wishes);
  const done = await untilDone(people, asked, 4);
  const made = (done?.answer["rows"] ?? []) as { id: string | null; caption: string }[];
  for (const wish of wishes)
    wish.id = made.find(({ caption }) => caption === wish.versions[0]?.text)?.id ?? null;
  // A row that came too late keeps all others back.
  if (done !== null && wishes.every(({ id }) => id === null)) deed.outcome = "refused";
}

async function update(people: People, wish = people.pickWish()): Promise<void> {
  const { world } = people;
  if (wish === null || wish.approvals !== null) return;
  const last = wish.versions.findLast(({ deed }) => deed.outcome !== "refused");
  if (last === undefined) return;
  const isNewText = world.chance(0.5);
  const isNewTime = !isNewText || world.chance(0.3);
  const at = momentIn(people, world.between(2_000, 6 * 60_000));
  const text = isNewText ? `${wish.name} v${wish.versions.length + 1}` : last.text;
  const args = {
    id: wish.id,
    ...(isNewText ? { caption: text } : {}),
    ...(isNewTime ? { scheduledAt: iso(at) } : {}),
  };
  const asked = people.ask("update_post", args);
  if (asked === null) return;
  wish.versions.push({
    text,
    scheduledAt: isNewTime ? at : last.scheduledAt,
    deed: asked.deed,
    sets: [...(isNewText ? ["text" as const] : []), ...(isNewTime ? ["time" as const] : [])],
  });
  wish.slotAt = null;
  await asked.over;
}

async function cancel(people: People, wish = people.pickWish()): Promise<void> {
  const asked = wish === null ? null : people.ask("cancel_post", { id: wish.id });
  if (wish === null || asked === null) return;
  wish.cancels.push(asked.deed);
  await asked.over;
}

async function retry(people: People, wish = people.pickWish()): Promise<void> {
  if (wish === null) return;
  const got = await people.askAndWait("get_post", { id: wish.id });
  const post = got?.answer["post"] as { status?: string; error?: string } | undefined;
  if (post?.status !== "failed") return;
  // They look at the channel, and tell what they see. Some just try.
  const isUnknownYet = post.error?.startsWith("outcome unknown") === true && people.world.chance(0.8);
  const asked = isUnknownYet
    ? people.ask("resolve_post", { id: wish.id, outcome: people.isOut(wish) ? "published" : "not_published" })
    : people.ask("retry_post", { id: wish.id });
  if (asked === null) return;
  wish.repeats.push(asked.deed);
  await asked.over;
}

/** Two people at one post, just when it is due, or while it should be out already. */
async function together(people: People): Promise<void> {
  const { world } = people;
  const now = people.clock();
  const near = people.wishes.filter((wish) => {
    const due = wish.versions.at(-1)?.scheduledAt ?? 0;
    return (
      wish.id !== null && due > now - LATELY_MS && due < now + SOON_MS && (due > now || !people.isOut(wish))
    );
  });
  if (near.length === 0) return;
  const wish = world.pick(near);
  if (world.chance(0.7)) await people.sleepUntil(wish.versions.at(-1)?.scheduledAt ?? 0);
  const acts = [update, update, cancel, retry];
  const two = [world.pick(acts), world.pick(acts)];
  await Promise.all(two.map((act) => act(people, wish)));
}
const SOON_MS = 120_000;
const LATELY_MS = 5 * 60_000;

/** Whoever has lost an answer asks with the same key again, also after they had it. */
async function repeat(people: People): Promise<void> {
  const { world } = people;
  const old = people.deeds.filter(
    ({ args, outcome, invokedAt, isForgotten = false }) =>
      args["idempotencyKey"] !== undefined &&
      outcome === "done" &&
      !isForgotten &&
      invokedAt > world.now - KEPT_MS,
  );
  if (old.length === 0) return;
  const { tool, args } = world.pick(old);
  await people.askAndWait(tool, args);
}
/** Keys are known for a day, and a clock may be wrong. */
const KEPT_MS = 20 * 3_600_000;

async function pause(people: People): Promise<void> {
  const channel = people.world.pick(people.channels);
  await people.askAndWait("update_account", { accountId: channel.id, paused: true });
  await people.world.sleep(people.world.between(1_000, 60_000));
  for (let tries = 0; tries < 20; tries += 1) {
    const deed = await people.askAndWait("update_account", {
      accountId: channel.id,
      paused: false,
    });
    if (deed?.outcome === "done") return;
    await people.world.sleep(10_000);
  }
}

/** What people do, and how often beside each other. */
const ACTS: readonly (readonly [name: string, share: number, act: Act])[] = [
  ["schedule", 5, (people) => schedule(people)],
  ["crowd", 1, crowd],
  ["batch", 1, batch],
  ["update", 2, update],
  ["cancel", 1, cancel],
  ["retry", 1, retry],
  ["draft", 2, draft],
  ["series", 1, series],
  ["import", 1, importTable],
  ["hook", 1, hook],
  ["agent", 1, agent],
  ["disconnect", 1, disconnect],
  ["reconnect", 1, reconnect],
  ["together", 3, together],
  ["repeat", 1, repeat],
  ["pause", 1, pause],
];
export const ACT_NAMES = ACTS.map(([name]) => name);
export const TURNS: readonly Turn[] = ACTS.flatMap(([name, share, act]) =>
  Array.from({ length: share }, () => ({ name, act })),
);
