import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openMachine, findLastingNode } from "../../src/app/machine.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { listen } from "../support/listen.ts";

const NEVER = new AbortController().signal;

const open = (env: Readonly<Record<string, string>>, stopSignal = NEVER) =>
  openMachine({ PATH: process.env["PATH"]!, ...env }, stopSignal);

function writeSettings(folder: string, text: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, "posthorn.env");
  writeFileSync(file, text);
  chmodSync(file, 0o600);
}

async function answering(status: number): Promise<{ server: Server; address: string }> {
  const server = createServer((_request, response) => void response.writeHead(status).end("{}"));
  const { origin } = await listen(server);
  return { server, address: origin };
}

describe("the machine", () => {
  it.each([
    ["", "http://127.0.0.1:4747"],
    ["POSTHORN_PORT=4801", "http://127.0.0.1:4801"],
    ["POSTHORN_HOST=0.0.0.0", "http://127.0.0.1:4747"],
    ["POSTHORN_HOST=::", "http://[::1]:4747"],
    ["POSTHORN_HOST=192.0.2.7", "http://192.0.2.7:4747"],
    ["POSTHORN_PORT=0", null],
  ])("knows where a server with these settings is reached: %s", async (settings, address) => {
    using folder = temporaryFolder();
    writeSettings(folder.env["POSTHORN_DATA_DIR"]!, `${settings}\n`);
    const machine = open({ ...folder.env, POSTHORN_PORT: "1" });
    expect(await machine.readAddress()).toMatchObject({ address });
  });

  it("refuses settings that a start would refuse, and makes no data folder", async () => {
    using folder = temporaryFolder();
    const data = folder.env["POSTHORN_DATA_DIR"]!;
    await open(folder.env).readAddress();
    expect(existsSync(join(data, "secret.key"))).toBe(false);
    writeSettings(data, "POSTHORN_PORT=http\n");
    await expect(open(folder.env).readAddress()).rejects.toThrow(/POSTHORN_PORT/);
  });

  it("looks whether a server is there", async () => {
    const machine = open({});
    const [ready, unready] = [await answering(200), await answering(503)];
    expect([await machine.probe(ready.address), await machine.probe(unready.address)]).toEqual([
      "ready",
      "unready",
    ]);
    ready.server.close();
    unready.server.close();
    await once(ready.server, "close");
    expect(await machine.probe(ready.address)).toBe("none");
  });

  it("runs commands, and knows those that are not there", async () => {
    const machine = open({});
    const script = 'process.stdout.write("out"); process.stderr.write("err"); process.exitCode = 3';
    expect(await machine.run(process.execPath, ["-e", script])).toEqual({
      status: 3,
      stdout: "out",
      stderr: "err",
    });
    expect(await machine.run("no-such-command-of-posthorn", [])).toMatchObject({ status: null });
    expect(await machine.follow("no-such-command-of-posthorn", [])).toBeNull();
    expect(await machine.follow(process.execPath, ["-e", "process.exitCode = 4"])).toBe(4);
  });

  it("ends what it follows when it is to end itself", async () => {
    const stop = new AbortController();
    const machine = open({}, stop.signal);
    const followed = machine.follow(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
    stop.abort();
    expect(await followed).toBeNull();
  });

  it("writes a file whole, with the folders above it", async () => {
    using folder = temporaryFolder();
    const machine = open({});
    const file = join(folder.path, "a", "b", "posthorn.service");
    expect(await machine.read(file)).toBeNull();
    await machine.write(file, "one");
    await machine.write(file, "two");
    expect([await machine.read(file), readdirSync(join(file, ".."))]).toEqual(["two", ["posthorn.service"]]);
    expect(statSync(file).mode & 0o022).toBe(0);
    await machine.remove(file);
    await machine.remove(file);
    expect(existsSync(file)).toBe(false);
  });

  it("takes Homebrew's Node at the path that stays", () => {
    using folder = temporaryFolder();
    const cellar = join(folder.path, "Cellar", "node@22", "22.13.0", "bin", "node");
    expect(findLastingNode(cellar)).toBe(cellar);
    const lasting = join(folder.path, "opt", "node@22", "bin", "node");
    mkdirSync(join(lasting, ".."), { recursive: true });
    writeFileSync(lasting, "");
    expect(findLastingNode(cellar)).toBe(lasting);
  });
});
