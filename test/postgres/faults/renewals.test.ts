import { it } from "vitest";
import { renewTogether } from "../../faults/renewing-hosts.ts";
import { report, times, TIMEOUT_MS } from "../../faults/report.ts";
import { openStoreOn } from "../../support/postgres-store-on.ts";
import { createDatabase } from "../../support/postgres.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const ROUNDS = times({ short: 40, long: 1_000 });

it(
  `renews a token once when three hosts find it expired together, ${ROUNDS} times`,
  async () => {
    using folder = temporaryFolder();
    await using database = await createDatabase();
    const { url } = database;
    await renewTogether({
      hosts: 3,
      rounds: ROUNDS,
      store: await openStoreOn(url),
      folder: folder.path,
      url,
    });
    report({
      fault: "F5",
      how: `PostgreSQL: three processes find a refresh token of a single use expired at the same moment`,
      runs: `${ROUNDS} rounds`,
      seen: `${ROUNDS} renewals, 0 refused, the channel connected`,
    });
  },
  TIMEOUT_MS,
);
