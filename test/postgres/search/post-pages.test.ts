import { createDatabase } from "../../support/postgres.ts";
import { openStoreOn } from "../../support/postgres-store-on.ts";
import { describeSearch } from "../../support/search-suite.ts";

describeSearch(async () => {
  const database = await createDatabase();
  const store = await openStoreOn(database.url);
  return {
    ...store,
    [Symbol.asyncDispose]: async () => {
      await store[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
});
