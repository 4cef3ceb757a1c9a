import { join } from "node:path";
import { it } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { renewTogether } from "./renewing-hosts.ts";

const ROUNDS = 100;

it(`renews a token once when two processes find it expired together, ${ROUNDS} times`, async () => {
  using folder = temporaryFolder();
  const store = await openStore({ file: join(folder.path, "posthorn.db") });
  await renewTogether({ hosts: 2, rounds: ROUNDS, store, folder: folder.path });
}, 180_000);
