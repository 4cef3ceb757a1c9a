import { type Act, idIn, iso, momentIn, newWish, type People, timeIn, type Turn } from "./people.ts";
import type { Deed, Version } from "./history.ts";

async function schedule(people: People): Promise<void> {
  const { world } = people;
  const channel = world.pick(people.channels);
  const name = people.newName();
  const when = world.pick(["time", "time", "time", "now", "slot"] as const);
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
  const deeds = await Promise.all(asked.map((one) => one?.over));
  for (let tries = 0; hasKey && tries < 3 && deeds.every((deed) => deed?.outcome === "unknown"); tries += 1)
    deeds.push((await people.askAndWait("schedule_post", args)) ?? undefined);
  const done = deeds.find((deed) => deed?.outcome === "done");
  wish.id = done === undefined ? null : idIn(done, "post");
  // With one key they are one wish.
  if (done !== undefined) Object.assign(first, { outcome: "done", answer: done.answer });
  if (when === "slot") wish.slotAt = timeIn(done);
  if (wish.id !== null) return;
  if (deeds.some((deed) => deed?.outcome === "unknown")) first.outcome = "unknown";
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

/** One writes, somebody changes it meanwhile perhaps, and a person decides about what they saw. */
async function draft(people: People): Promise<void> {
  const { world } = people;
  const channel = world.pick(people.channels);
  const name = people.newName();
  const isTimed = world.chance(0.6);
  const at = momentIn(people, world.between(30_000, 8 * 60_000));
  const text = (version: number): string => `${name} v${version}`;
  const wish = newWish(name, channel, [], []);
  people.wishes.push(wish);
  const save = async (more: Record<string, unknown>): Promise<Deed | null> => {
    const caption = text(wish.versions.length + 1);
    const asked = people.ask("save_draft", { caption, submit: true, ...more });
    if (asked === null) return null;
    const version: Version = {
      text: caption,
      scheduledAt: isTimed ? at : -Infinity,
      deed: asked.deed,
      revision: null,
    };
    wish.versions.push(version);
    const deed = await asked.over;
    version.revision = (deed.answer["draft"] as { revision?: number } | undefined)?.revision ?? null;
    return deed;
  };
  const first = await save({
    targets: [{ accountId: channel.id }],
    ...(isTimed ? { scheduledAt: iso(at) } : {}),
  });
  const id = first === null ? null : idIn(first, "draft");
  if (id === null) return;
  const edits = async (): Promise<void> => {
    for (let left = world.between(0, 2); left > 0; left -= 1) {
      await world.sleep(world.between(0, 20_000));
      await save({ id });
    }
  };
  // They read it, go away, and decide about what they have read: some just when it is due.
  const decides = async (): Promise<void> => {
    const isPunctual = isTimed && world.chance(0.3);
    for (let tries = 0; tries < 4; tries += 1) {
      const seen = wish.versions.findLast(({ revision }) => typeof revision === "number");
      if (seen?.revision === undefined || seen.revision === null) return;
      await (isPunctual && tries === 0 ? people.sleepUntil(at) : world.sleep(world.between(100, 30_000)));
      const isNo = world.chance(0.15);
      const key = world.chance(0.5) ? { idempotencyKey: `decide ${name} ${wish.approvals?.length}` } : {};
      const args = { id, revision: seen.revision, decision: isNo ? "discard" : "approve", ...key };
      const asked = people.ask("decide_draft", args);
      if (asked === null) return;
      (isNo ? wish.cancels : wish.approvals)?.push(asked.deed);
      const deed = await asked.over;
      const posts = (deed.answer["draft"] as { posts?: { id: string }[] } | undefined)?.posts ?? [];
      wish.id ??= posts[0]?.id ?? null;
      if (deed.outcome === "done") return;
    }
  };
  // Two people may decide at the same moment.
  await Promise.all([edits(), decides(), ...(world.chance(0.3) ? [decides()] : [])]);
}

/** Two people at one post, and just when it is due. */
async function together(people: People): Promise<void> {
  const { world } = people;
  const now = people.clock();
  const wish = people.wishes.find(({ versions, id }) => {
    const due = versions.at(-1)?.scheduledAt ?? 0;
    return id !== null && due > now && due < now + SOON_MS;
  });
  if (wish === undefined) return;
  if (world.chance(0.7)) await people.sleepUntil(wish.versions.at(-1)?.scheduledAt ?? 0);
  const acts = [update, update, cancel, retry];
  const two = [world.pick(acts), world.pick(acts)];
  await Promise.all(two.map((act) => act(people, wish)));
}
const SOON_MS = 120_000;

/** Whoever has lost an answer asks with the same key again, also after they had it. */
async function repeat(people: People): Promise<void> {
  const { world } = people;
  const old = people.deeds.filter(
    ({ args, outcome, invokedAt }) =>
      args["idempotencyKey"] !== undefined && outcome === "done" && invokedAt > world.now - KEPT_MS,
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
  ["schedule", 5, schedule],
  ["update", 2, update],
  ["cancel", 1, cancel],
  ["retry", 1, retry],
  ["draft", 2, draft],
  ["together", 3, together],
  ["repeat", 1, repeat],
  ["pause", 1, pause],
];
export const ACT_NAMES = ACTS.map(([name]) => name);
export const TURNS: readonly Turn[] = ACTS.flatMap(([name, share, act]) => Array.from({ length: share }, () => ({ name, act })));
