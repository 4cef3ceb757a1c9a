import { openStore } from "../../../src/store/open-store.ts";
import { describeSearch } from "../../support/search-suite.ts";

describeSearch(() => openStore({ file: ":memory:" }));
