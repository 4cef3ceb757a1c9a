import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import pg from "pg";

/**
 * A pooler as pgbouncer is with `pool_mode = transaction` or `session`: whoever connects gets a session of the
 * server for a transaction, or until it leaves. It lets everybody in.
 */
export async function startPooler(
  url: string,
  mode: "transaction" | "session",
): Promise<AsyncDisposable & { readonly port: number }> {
  const idle: Session[] = [];
  const all: Session[] = [];
  const take = async (): Promise<Session> => {
    const session = idle.pop() ?? (await openSession(url));
    if (!all.includes(session)) all.push(session);
    return session;
  };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    void serve(socket, { mode, take, give: (session) => void idle.push(session) });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await Promise.all(all.map(({ client }) => client.end().catch(() => {})));
    },
  };
}

interface Session {
  readonly client: pg.Client;
  readonly stream: Socket;
}

/** Let in by `pg`, which then leaves its socket to us. */
async function openSession(url: string): Promise<Session> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  stream.removeAllListeners("data");
  client.on("error", () => {});
  return { client, stream };
}

interface Pool {
  readonly mode: "transaction" | "session";
  readonly take: () => Promise<Session>;
  readonly give: (session: Session) => void;
}

async function serve(socket: Socket, { mode, take, give }: Pool): Promise<void> {
  await once(socket, "data");
  socket.write(greeting());
  let session: Session | null = null;
  let isInTransaction = false;
  const leave = (): void => {
    if (session === null) return;
    session.stream.removeAllListeners("data");
    // Nobody else gets what is half done.
    if (isInTransaction) session.stream.destroy();
    else give(session);
    session = null;
  };
  const settle = (chunk: Buffer): void => {
    socket.write(chunk);
    // It ends with "ready for query" and a state: Z, a length of five, I for idle.
    const end = chunk.subarray(-6).toString("latin1");
    if (end.startsWith("Z\0\0\0\x05")) isInTransaction = !end.endsWith("I");
    if (mode === "transaction" && !isInTransaction) leave();
  };
  let last = Promise.resolve();
  const pass = async (chunk: Buffer): Promise<void> => {
    // Terminate.
    if (chunk[0] === 0x58) return void socket.destroy();
    if (session === null) {
      session = await take();
      session.stream.on("data", settle);
    }
    session.stream.write(chunk);
  };
  socket.on("data", (chunk: Buffer) => {
    last = last.then(() => pass(chunk));
  });
  socket.once("close", leave);
}

/** Come in; your number is one of ours; ready. */
function greeting(): Buffer {
  const message = (type: string, body: Buffer): Buffer => {
    const head = Buffer.alloc(5);
    head.write(type);
    head.writeInt32BE(body.length + 4, 1);
    return Buffer.concat([head, body]);
  };
  const key = Buffer.alloc(8);
  key.writeInt32BE(randomInt(2 ** 30, 2 ** 31 - 1));
  return Buffer.concat([message("R", Buffer.alloc(4)), message("K", key), message("Z", Buffer.from("I"))]);
}
