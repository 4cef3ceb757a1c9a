import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** Where a client is cut off from its server, in the next request that fits. */
export interface Cut {
  /** Of its first line: `POST /posts/?x=y HTTP/1.1`. */
  readonly request: RegExp;
  /**
   * `halfway`: half of the body was passed on. `taken`: all of it, the server has it. `answered`: the server
   * has answered, and nothing of that comes through.
   */
  readonly when: "halfway" | "taken" | "answered";
  /** What is withheld first, where other things come before it; of use for a WebSocket. */
  readonly answer?: RegExp;
}

/** A TCP proxy before a server on this machine; bytes go through as they are, until it is told to cut. */
export interface Door extends AsyncDisposable {
  readonly port: number;
  /**
   * Resolves at that moment. Nothing passes on this connection any more, in either direction; it ends when the
   * client ends it.
   */
  cut(at: Cut): Promise<void>;
  /** Forgets a cut whose moment did not come. */
  spare(): void;
}

interface Armed extends Cut {
  readonly reached: () => void;
}

/** The request that is to be cut: how many of its bytes are yet to be passed on. */
interface Watch extends Armed {
  left: number;
  isShut: boolean;
}

export async function openDoor(to: number): Promise<Door> {
  let armed: Armed | null = null;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(to, "127.0.0.1");
    let watch: Watch | null = null;
    client.on("data", (bytes: Buffer) => {
      if (watch === null && armed?.request.test(firstLine(bytes)) === true) {
        watch = { ...armed, left: lengthOf(bytes, armed.when), isShut: false };
        armed = null;
      }
      if (watch === null) return void upstream.write(bytes);
      if (watch.isShut) return;
      const current = watch;
      const passed = current.when === "answered" ? bytes : bytes.subarray(0, current.left);
      current.left -= passed.length;
      current.isShut = current.when !== "answered" && current.left <= 0;
      upstream.write(passed, () => {
        if (current.isShut) current.reached();
      });
    });
    upstream.on("data", (bytes: Buffer) => {
      if (watch?.when === "answered" && (watch.answer?.test(bytes.toString("latin1")) ?? true)) {
        watch.isShut = true;
        watch.reached();
      }
      if (watch?.isShut !== true) client.write(bytes);
    });
    couple(client, upstream, () => true);
    // Not told either: that the server hangs up once it has answered.
    couple(upstream, client, () => watch?.isShut !== true);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    cut: (at) => new Promise((resolve) => (armed = { ...at, reached: resolve })),
    spare: () => void (armed = null),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** What ends on one side ends on the other, as if there were nothing between them. */
function couple(from: Socket, to: Socket, isOpen: () => boolean): void {
  from.setNoDelay();
  from.on("error", () => isOpen() && to.destroy());
  from.on("end", () => isOpen() && to.end());
  from.on("close", () => isOpen() && to.destroySoon());
}

/** Each request begins a chunk of its own: a client waits for its answer before it sends the next. */
function firstLine(bytes: Buffer): string {
  const end = bytes.indexOf("\r\n");
  return bytes.toString("latin1", 0, end === -1 ? 0 : end);
}

/** Bytes from the head's first up to where it is cut. */
function lengthOf(bytes: Buffer, when: Cut["when"]): number {
  const headBytes = bytes.indexOf("\r\n\r\n") + 4;
  const bodyBytes = Number(
    /^content-length: *(\d+)/im.exec(bytes.toString("latin1", 0, headBytes))?.[1] ?? "0",
  );
  return headBytes + (when === "halfway" ? Math.floor(bodyBytes / 2) : bodyBytes);
}
