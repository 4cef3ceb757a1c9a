/*
 * Matrix's platform file against a real Synapse, of Debian's package matrix-synapse. Nothing is installed:
 * the packages are unpacked into a temporary folder, or into the one that is named, where they stay for the next
 * time. By hand, as it needs Debian's packages:
 *
 *   npx tsx test/real/matrix.ts [folder]
 */
import matrix from "../../src/platforms/matrix/index.ts";
import { setTimeout as wait } from "node:timers/promises";
import { SECOND } from "../../src/domain/time.ts";
import { connectWithSecrets, disconnectChannel } from "../../src/connecting/connections.ts";
import { inspectAccount } from "../../src/connecting/inspect.ts";
import { createConnectIo } from "../../src/platform-io/connect-io.ts";
import { createPlatformIo } from "../../src/connecting/account-io.ts";
import { readInsights } from "../../src/posts/posts.ts";
import { editPublishedPost } from "../../src/posts/live-posts.ts";
import { findAccountRow, type AccountRow } from "../../src/store/queries/accounts.ts";
import { callOf } from "../support/context.ts";
import { CLIP_URL, PHOTO_URL } from "../support/contract/stage-media.ts";
import { addPost, drain, readPost } from "../support/publishing.ts";
import { startRangedSource, videoOf } from "../support/ranged-source.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { startSynapse, unpackSynapse } from "./synapse.ts";
import { conclude, losing, openReal, tell } from "./world.ts";

const PASSWORD = "a horn, blown";

async function run(): Promise<void> {
  using folder = temporaryFolder();
  await using server = await startSynapse(folder.path, unpackSynapse(folder.path, process.argv[2]));
  for (const name of ["boss", "horn"]) await server.register(name, PASSWORD);
  const boss = await server.signIn("boss", PASSWORD);
  const own = await server.signIn("horn", PASSWORD);
  const create = async (room: object): Promise<string> =>
    (await boss.ask("POST", "/v3/createRoom", room))["room_id"];
  const news = await create({ name: "News", room_alias_name: "news", preset: "public_chat" });

  await using world = await openReal(matrix);
  const { ctx, outbound } = world;
  const call = callOf(ctx);
  const named = { provider: "matrix", instanceUrl: server.base };
  const readAccount = async (id: string): Promise<AccountRow> =>
    (await findAccountRow(ctx.store, call.caller.ownerId, id))!;
  const signIn = (more: object = {}) =>
    connectWithSecrets(call, {
      ...named,
      way: "password",
      secrets: { user: "@horn:localhost", password: PASSWORD, room: "#news:localhost" },
      ...more,
    });

  const { account } = await signIn();
  tell("signs in with a password, and joins the room", account.handle === "#news:localhost", account);
  const token = { accessToken: own.token, room: news };
  const again = await connectWithSecrets(call, { ...named, way: "token", secrets: token });
  tell("connects with a token, as the same channel", again.account.id === account.id, again.account);
  for (const [field, secrets] of [
    ["accessToken", { ...token, accessToken: "wrong" }],
    ["room", { ...token, room: "#nowhere:localhost" }],
  ] as const) {
    const error = await connectWithSecrets(call, { ...named, way: "token", secrets }).catch(
      (cause: unknown) => cause,
    );
    tell(
      `says that ${field} is wrong`,
      error instanceof Error && error.message.startsWith(`${field}: `),
      error,
    );
  }
  const wrong = { user: "horn", password: "wrong", room: news };
  const refused = await signIn({ secrets: wrong }).catch((error: unknown) => error);
  tell(
    "says that password is wrong",
    refused instanceof Error && refused.message.startsWith("password: "),
    refused,
  );

  const invite = { invite: ["@horn:localhost"] };
  const rooms: Record<string, [string, RegExp | null]> = {
    encrypted: [
      await create({
        ...invite,
        initial_state: [{ type: "m.room.encryption", content: { algorithm: "m.megolm.v1.aes-sha2" } }],
      }),
      /encrypted/,
    ],
    "read-only": [
      await create({ ...invite, power_level_content_override: { events_default: 50 } }),
      /power level/,
    ],
    space: [await create({ ...invite, creation_content: { type: "m.space" } }), /space/],
    "of version 12": [await create({ ...invite, room_version: "12" }), null],
  };
  const mine = (
    await own.ask("POST", "/v3/createRoom", {
      room_version: "12",
      power_level_content_override: { events_default: 50 },
    })
  )["room_id"];
  rooms["of version 12 and its own"] = [mine, null];
  for (const [id] of Object.values(rooms)) await own.ask("POST", `/v3/join/${encodeURIComponent(id)}`, {});
  const connectIo = await createConnectIo(
    ctx,
    { provider: "matrix", ownerId: call.caller.ownerId },
    AbortSignal.timeout(60_000),
  );
  const [way] = matrix.connect;
  const input = { instanceUrl: server.base, handle: null, name: null, reconnecting: null };
  const found =
    way.kind === "secrets"
      ? await way.connect({ ...input, secrets: { accessToken: own.token } }, connectIo)
      : null;
  for (const [what, [id, problem]] of Object.entries(rooms)) {
    const told = found?.targets.find(({ settings }) => settings["roomId"] === id);
    const isRight =
      problem === null ? told !== undefined && told.problem === undefined : problem.test(told?.problem ?? "");
    tell(`lists a room that is ${what}, with what stands in the way`, isRight, told);
  }

  const row = await readAccount(account.id);
  const room = `/v3/rooms/${encodeURIComponent(news)}`;
  const list = async (): Promise<any[]> => {
    const { chunk } = await boss.ask("GET", `${room}/messages?dir=b&limit=100`);
    return chunk.filter(
      (event: any) => event.type === "m.room.message" && event.content.msgtype !== undefined,
    );
  };
  const count = async (text: string) =>
    (await list()).filter(({ content }) => content.body === text && content["m.relates_to"] === undefined)
      .length;
  const metadata = (values: object): string => JSON.stringify(values);

  const inspected = await inspectAccount(ctx, row);
  tell(
    "is told how large files may be",
    (await readAccount(row.id)).limits === '{"maxBytes":52428800}',
    inspected,
  );

  const text = await world.publish(row, { caption: "A text\n\n  with *lines* & <b>tags</b>" });
  tell(
    "publishes a text",
    text.status === "published" && (await count(text.caption ?? "")) === 1,
    text.error,
  );
  const html = await world.publish(row, { caption: "Bold", metadata: metadata({ html: "<b>Bold</b>" }) });
  const [bold] = (await list()).filter(({ content }) => content.formatted_body === "<b>Bold</b>");
  tell("publishes HTML", html.status === "published" && bold !== undefined, html.error);
  const more = { moreMedia: [{ url: PHOTO_URL, altText: "The same horn" }] };
  const picture = await world.publish(row, {
    caption: "Pictures",
    media_url: PHOTO_URL,
    metadata: metadata(more),
  });
  tell("publishes pictures", picture.status === "published" && picture.warnings === null, picture);
  tell("each once", (await count("Pictures")) === 1 && (await count("The same horn")) === 1, await list());
  const [shown] = (await list()).filter(({ content }) => content.body === "Pictures");
  const [, mediaId] = /^mxc:\/\/(.*)$/.exec(shown?.content.url ?? "") ?? [];
  const bytes = await fetch(`${server.base}/_matrix/client/v1/media/download/${mediaId}`, {
    headers: { authorization: `Bearer ${boss.token}` },
  });
  const sizeBytes = (await bytes.arrayBuffer()).byteLength;
  tell("others get the picture", bytes.ok && sizeBytes === shown?.content.info.size, [
    bytes.status,
    sizeBytes,
  ]);
  const film = await world.publish(row, {
    caption: "A film",
    media_url: CLIP_URL,
    metadata: metadata({ thumbnailUrl: PHOTO_URL }),
  });
  const [played] = (await list()).filter(({ content }) => content.body === "A film");
  const info = played?.content.info ?? {};
  tell("publishes a film with a thumbnail", film.status === "published" && "thumbnail_url" in info, [
    film.error,
    info,
  ]);

  const at = ctx.clock.now() + 8 * SECOND;
  const timed = { scheduled_at: at, due_at: ctx.clock.now(), next_at: ctx.clock.now(), lead_minutes: 1 };
  const { id: timedId } = await addPost(ctx, row, { caption: "On time", media_url: PHOTO_URL, ...timed });
  await drain(ctx);
  tell("shows nothing before its time", (await count("On time")) === 0);
  const onTime = await world.finish(timedId);
  const [timedEvent] = (await list()).filter(({ content }) => content.body === "On time");
  const isTimely = timedEvent?.origin_server_ts >= at && timedEvent?.origin_server_ts < at + 15 * SECOND;
  tell("and it at its time", onTime.status === "published" && isTimely, [onTime.error, timedEvent]);

  for (const [what, post] of [
    ["a text", text],
    ["a picture's caption", picture],
  ] as const) {
    const caption = `${what}, changed`;
    // Synapse takes ten messages at once, and then one in five seconds.
    await wait(6 * SECOND);
    const edited = await editPublishedPost(call, { id: post.id, caption }).catch((error: unknown) => error);
    const event = await boss.ask("GET", `${room}/event/${encodeURIComponent(post.platform_post_id ?? "")}`);
    const fresh = event["unsigned"]?.["m.relations"]?.["m.replace"]?.content["m.new_content"];
    tell(`changes ${what}`, fresh?.body === caption && fresh.url === event["content"].url, [edited, event]);
  }
  const relates = { rel_type: "m.annotation", event_id: picture.platform_post_id, key: "👍" };
  await boss.ask("PUT", `${room}/send/m.reaction/r1`, { "m.relates_to": relates });
  const reply = { rel_type: "m.thread", event_id: picture.platform_post_id };
  await boss.ask("PUT", `${room}/send/m.room.message/r2`, {
    msgtype: "m.text",
    body: "Ho",
    "m.relates_to": reply,
  });
  const { state, metrics } = await readInsights(ctx, await readPost(ctx, picture.id));
  tell(
    "counts reactions and replies",
    state === "live" && metrics?.likes === 1 && metrics.comments === 1,
    metrics,
  );
  const io = await createPlatformIo(ctx, row, AbortSignal.timeout(10_000));
  const totals = (await matrix.analytics?.({ from: "", to: "" }, io))?.totals;
  tell("counts members", totals?.["followers"] === 2, totals);

  const isSending = ({ method, url }: { method: string; url: string }) =>
    method === "PUT" && url.includes("/send/");
  for (const [what, post] of [
    ["a text", { caption: "Gone text" }],
    ["a picture", { caption: "Gone picture", media_url: PHOTO_URL }],
  ] as const) {
    const lost = await world.publish(row, post, { ...ctx, outbound: losing(outbound, isSending) });
    const seen = await count(post.caption);
    tell(`shows ${what} once whose answer was lost`, lost.status === "published" && seen === 1, [lost, seen]);
  }
  const worker = { ...ctx, outbound: losing(outbound, isSending) };
  const { id: brokenId } = await addPost(ctx, row, { caption: "Gone with the server" });
  await drain(worker);
  await server.restart();
  const broken = await world.finish(brokenId);
  const restarted = await count("Gone with the server");
  tell("and once where the server was killed then", broken.status === "published" && restarted === 1, [
    broken,
    restarted,
  ]);

  await using source = await startRangedSource(videoOf(60_000));
  const { door } = server;
  const [event, upload] = [/^PUT \S+\/send\/m\.room\.message\//, /^POST \S+\/media\/v3\/upload/];
  for (const [what, kills] of [
    ["as the server had the message", [{ door, request: event, when: "taken" }]],
    ["as the server had answered", [{ door, request: event, when: "answered" }]],
    [
      "in the middle of a film, after it, and after the message",
      [
        { door, request: upload, when: "halfway" },
        { door, request: upload, when: "answered" },
        { door, request: event, when: "answered" },
      ],
    ],
  ] as const) {
    const caption = `Killed ${what}`;
    const media = kills.length === 1 ? {} : { media_url: `${source.origin}/film.mp4` };
    const job = { account: row, post: { caption, ...media }, kills, count: () => count(caption) };
    await world.tellKilled(what, job);
  }

  const { id: strangeId } = await addPost(ctx, row, { caption: "Gone with the device" });
  await drain({ ...ctx, outbound: losing(outbound, isSending) });
  await signIn();
  const strange = await world.finish(strangeId);
  const otherDevice = await count("Gone with the device");
  tell("and once from another device", strange.status === "published" && otherDevice === 1, [
    strange,
    otherDevice,
  ]);

  const before = await readPost(ctx, picture.id);
  const removed = await world.remove(await readAccount(row.id), before).catch((error: unknown) => error);
  const left = JSON.stringify(await list());
  const isLeft = /Pictures|The same horn|caption, changed/.test(left);
  tell("removes a post with its files and its edits", removed === undefined && !isLeft, [removed, left]);
  await world.remove(await readAccount(row.id), before);
  const gone = await readInsights(ctx, before);
  tell("tells that it is gone", gone.state === "removed", gone);

  const other = await server.signIn("horn", PASSWORD);
  await other.ask("POST", "/v3/logout/all", {});
  const waiting = await addPost(ctx, await readAccount(row.id), { caption: "Waited" });
  await drain(ctx);
  const { status, status_reason: reason } = await readAccount(row.id);
  tell("asks to be reconnected when its session ended", status === "reconnect_required", [
    waiting,
    status,
    reason,
  ]);
  await signIn({ accountId: row.id });
  const late = await world.finish(waiting.id);
  tell("and goes on then", (await count("Waited")) === 1 || late.status === "failed", late);

  await boss.ask("POST", `${room}/kick`, { user_id: "@horn:localhost", reason: "Enough" });
  const outside = await readAccount(row.id);
  await inspectAccount(ctx, outside).catch(() => {});
  process.stdout.write(`    ${(await readAccount(row.id)).status_reason}\n`);
  const { id: kickedId } = await addPost(ctx, outside, { caption: "From outside" });
  await drain(ctx);
  const kicked = await readPost(ctx, kickedId);
  tell("does not post from outside", (await readAccount(row.id)).status === "reconnect_required", kicked);
  const back = await signIn({ accountId: row.id });
  tell("comes back in when it is reconnected", back.account.id === row.id, back);

  const hers = await readAccount(row.id);
  const secrets = await (
    await createPlatformIo(ctx, hers, AbortSignal.timeout(5_000))
  ).authorized(async (all) => all);
  await disconnectChannel(call, { accountId: row.id });
  const headers = { authorization: `Bearer ${secrets["accessToken"]}` };
  for (let n = 0; n < 20; n += 1) {
    const who = await fetch(`${server.base}/_matrix/client/v3/account/whoami`, { headers });
    if (who.status === 401) break;
    await wait(250);
  }
  const who = await fetch(`${server.base}/_matrix/client/v3/account/whoami`, { headers });
  tell("signs out when the channel is disconnected", who.status === 401, who.status);
}

await run();
conclude();
