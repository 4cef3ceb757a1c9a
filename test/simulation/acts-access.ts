import { authenticate, createKey, revokeKey } from "../../src/access/api-keys.ts";
import { plainCall } from "../../src/context.ts";
import { AppError } from "../../src/domain/errors.ts";
import { ROLES } from "../../src/domain/permissions.ts";
import type { Host } from "./host.ts";
import { connectPages } from "./renewed-platform.ts";
import { type Asked, type Channel, idIn, iso, momentIn, newWish, type People } from "./people.ts";

interface Key {
  readonly id: string;
  readonly text: string;
  readonly role: "writer" | "publisher";
  /** The only one that it reaches. */
  readonly channelId: string | null;
}

/** A program works with a key of its own, until that is revoked, and goes on trying. */
export async function agent(people: People): Promise<void> {
  const { world } = people;
  const key = await makeKey(people);
  if (key === null) return;
  const uses = (): Promise<void>[] =>
    Array.from({ length: world.between(1, 3) }, async () => {
      await world.sleep(world.between(0, 5_000));
      await use(people, key);
    });
  await Promise.all(uses());
  const revoke = async (): Promise<void> => {
    await world.sleep(world.between(0, 5_000));
    await askWith(people, "revoke_key", { key: key.id }, (host) =>
      revokeKey(callOf(people, host), { key: key.id }),
    );
  };
  await Promise.all([revoke(), ...uses()]);
  await Promise.all(uses());
}

async function makeKey(people: People): Promise<Key | null> {
  const { world, channels } = people;
  const role = world.pick(["writer", "publisher"] as const);
  const channelId = world.chance(0.5) ? null : world.pick(channels).id;
  const limits = channelId === null ? {} : { accountIds: [channelId] };
  const asked = askWith(people, "create_key", { role, ...limits }, (host) =>
    createKey(callOf(people, host), { permissions: ROLES[role], ...limits }),
  );
  const { answer } = (await asked?.over) ?? {};
  if (answer?.["key"] === undefined) return null;
  const { id } = answer["apiKey"] as { id: string };
  return { id, text: String(answer["key"]), role, channelId };
}

const callOf = (people: People, { ctx }: Host) => plainCall(ctx, people.caller);

function askWith(
  people: People,
  tool: string,
  args: Record<string, unknown>,
  work: (host: Host) => Promise<object>,
): Asked | null {
  return people.ask(tool, args, async (host) => ({ ...(await work(host)) }));
}

/** As the HTTP face lets a call in. */
function askAs(people: People, key: Key, tool: string, args: Record<string, unknown>): Asked | null {
  const asked = askWith(people, tool, args, async (host) => {
    const caller = await authenticate(host.ctx, key.text, null);
    if (caller === null) throw new AppError("unauthenticated", "The key is not good.");
    return (await host.call(tool, args, caller)).result;
  });
  if (asked !== null) asked.deed.by = key.id;
  return asked;
}

async function use(people: People, key: Key): Promise<void> {
  const { world } = people;
  const channel = world.pick(people.channels);
  const isBeyond = key.channelId !== null && key.channelId !== channel.id;
  const at = momentIn(people, world.between(5_000, 3 * 60_000));
  const name = people.newName();
  const caption = `${name} v1`;
  const time = { scheduledAt: iso(at) };
  const isDraft = world.chance(0.4);
  const asked = isDraft
    ? askAs(people, key, "save_draft", {
        caption,
        targets: [{ accountId: channel.id }],
        submit: true,
        ...time,
      })
    : askAs(people, key, "schedule_post", { accountId: channel.id, caption, ...time });
  if (asked === null) return;
  const { deed } = asked;
  deed.mayNot = isBeyond || (!isDraft && key.role === "writer");
  const version = { text: caption, scheduledAt: at, deed, revision: 1 };
  const wish = newWish(name, channel, [version], isDraft ? [] : null);
  people.wishes.push(wish);
  await asked.over;
  wish.id = idIn(deed, "post");
  const id = idIn(deed, "draft");
  if (id === null) return;
  const decided = askAs(people, key, "decide_draft", { id, revision: 1, decision: "approve" });
  if (decided === null) return;
  decided.deed.mayNot = key.role === "writer";
  wish.approvals?.push(decided.deed);
  const { answer } = await decided.over;
  wish.id = (answer["draft"] as { posts?: { id: string }[] } | undefined)?.posts?.[0]?.id ?? null;
}

/** A channel is given up, and connected again a while later. */
export async function disconnect(people: People): Promise<void> {
  const { world } = people;
  const channel = world.pick(people.channels);
  await people.askAndWait("disconnect_channel", { accountId: channel.id });
  await world.sleep(world.between(1_000, 300_000));
  await connect(people, channel);
}

/** Somebody looks whether a channel must be connected again, and does so. */
export async function reconnect(people: People): Promise<void> {
  const got = await people.askAndWait("list_accounts", {});
  const accounts = (got?.answer["accounts"] ?? []) as { id: string; status: string }[];
  const id = accounts.find(({ status }) => status === "reconnect_required")?.id;
  const channel = people.channels.find((one) => one.id === id);
  if (channel !== undefined) await connect(people, channel);
}

async function connect(people: People, { id: accountId, provider }: Channel): Promise<void> {
  for (let tries = 0; tries < 20; tries += 1) {
    const asked =
      provider === "class_h"
        ? askWith(people, "connect_channel", { accountId }, (host) =>
            connectPages(callOf(people, host), accountId),
          )
        : people.ask("connect_channel", { accountId });
    if ((await asked?.over)?.outcome === "done") return;
    await people.world.sleep(10_000);
  }
}
