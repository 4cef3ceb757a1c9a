import { it } from "vitest";
import { renewTogether } from "../renewing-hosts.ts";
import { report, times, TIMEOUT_MS } from "../report.ts";
import { createSharedDatabase } from "../shared-database.ts";

const ROUNDS = times({ short: 100, long: 1_000 });

it(
  `renews a token once when three processes find it expired together, ${ROUNDS} times`,
  async () => {
    await using database = await createSharedDatabase();
    const { folder, url } = database;
    const at = url === null ? {} : { url };
    await renewTogether({ hosts: 3, rounds: ROUNDS, store: await database.open(), folder, ...at });
    report({
      fault: "F5",
      how: "three processes find a refresh token of a single use expired at the same moment",
      runs: `${ROUNDS} rounds`,
      seen: `${ROUNDS} renewals, 0 refused, the channel connected`,
    });
  },
  TIMEOUT_MS,
);
