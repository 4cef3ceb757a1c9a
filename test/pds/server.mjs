// A personal data server and its PLC directory in a process of their own: `node server.mjs` with an IPC channel.
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import "./node-sqlite.mjs";

process.env.LOG_ENABLED = "false";
const { Secp256k1Keypair } = await import("@atproto/crypto");
const { envToCfg, envToSecrets, PDS } = await import("@atproto/pds");
const { default: plc } = await import("@did-plc/server");

const folder = await mkdtemp(join(tmpdir(), "posthorn-pds-"));
const plcPort = await freePort();
const directory = plc.PlcServer.create({ db: plc.Database.mock(), port: plcPort });
await directory.start();

const port = await freePort();
const rotationKey = await Secp256k1Keypair.create({ exportable: true });
const jwtSecret = randomBytes(16).toString("hex");
const env = {
  devMode: true,
  port,
  hostname: "localhost",
  dataDirectory: folder,
  blobstoreDiskLocation: join(folder, "blobs"),
  blobUploadLimit: 50_000_000,
  didPlcUrl: `http://localhost:${plcPort}`,
  serviceHandleDomains: [".test"],
  inviteRequired: false,
  disableSsrfProtection: true,
  enableDidDocWithSession: true,
  rateLimitsEnabled: false,
  adminPassword: randomBytes(16).toString("hex"),
  jwtSecret,
  plcRotationKeyK256PrivateKeyHex: Buffer.from(await rotationKey.export()).toString("hex"),
};
const pds = await PDS.create(envToCfg(env), envToSecrets(env));
await pds.start();
process.send({ url: `http://localhost:${port}`, jwtSecret });

process.once("disconnect", async () => {
  await pds.destroy();
  await directory.destroy();
  await rm(folder, { recursive: true, force: true });
  process.exit(0);
});

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, () => {
      const { port: free } = probe.address();
      probe.close(() => resolve(free));
    });
  });
}
