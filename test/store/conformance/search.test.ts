import { describeSearch } from "../../support/search-suite.ts";
import { openPlace } from "./place.ts";

describeSearch(async () => {
  const place = await openPlace();
  const store = await place.open();
  return {
    ...store,
    [Symbol.asyncDispose]: async () => {
      await store[Symbol.asyncDispose]();
      await place[Symbol.asyncDispose]();
    },
  };
});
