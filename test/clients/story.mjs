/**
 * What a person does with a client, and what came of it, as JSON on standard output. Runs on the newer Node of
 * this workspace, in a process of its own: node story.mjs '{ "client", "transport", … }'.
 *
 * A module in sessions/ has a function for each transport of its client, which connects it and answers
 * { list(): names of tools, call(name, args): { text, isError }, close() }.
 */
const { client, transport, ...server } = JSON.parse(process.argv[2]);
const connect = (await import(`./sessions/${client}.mjs`))[transport];

const session = await connect(server);
const tools = await session.list();
const [feed] = (await read("list_accounts", {})).accounts;
const post = { accountId: feed.id, caption: `By ${client} over ${transport}`, scheduledAt: inDays(1) };
const { id } = (await read("schedule_post", post)).post;
const shown = await read("get_post", { id });
const refused = await session.call("schedule_post", { ...post, scheduledAt: inDays(-400) });
await session.close();
process.stdout.write(JSON.stringify({ tools, post, shown: shown.post, refused }), () => process.exit(0));

async function read(name, args) {
  const { text, isError } = await session.call(name, args);
  if (isError) throw new Error(`${name}: ${text}`);
  return JSON.parse(text);
}

function inDays(days) {
  return new Date(Date.now() + days * 24 * 60 * 60 * 1000).toISOString();
}
