import { describe, expect, it } from "vitest";
import { loadCatalog } from "../../src/app/setup.ts";
import type { PlatformAccount } from "../../src/ports/platform-io.ts";

/*
 * The first part of a thread is out before the others are sent. So each of them is held to what the platform is
 * known to take when the post is planned.
 */

const { platforms } = await loadCatalog();
const ACCOUNT: PlatformAccount = {
  id: "acc_1",
  name: "Horn",
  handle: "horn",
  platformAccountId: "1",
  settings: { instanceUrl: "https://home.example" },
  limits: {},
  scopes: [],
};

const withThreads = platforms.filter(({ metadata }) => "thread" in metadata.shape);

describe("a part of a thread", () => {
  it.each(withThreads.map((platform) => [platform.name, platform] as const))(
    "is measured on %s",
    (_name, platform) => {
      const { caption } = platform.capabilitiesOf?.(ACCOUNT, null) ?? platform.capabilities;
      const max = caption.maxLength ?? Infinity;
      if (max === Infinity) return;
      const problemsOf = (text: string): string[] => {
        const given = { thread: [{ caption: "Second" }, { caption: text }] };
        const metadata = platform.metadata.partial().safeParse(given);
        if (!metadata.success) return metadata.error.issues.map(({ path }) => path.join("."));
        const post = {
          id: "post_1",
          caption: "First",
          mediaUrl: "",
          metadata: metadata.data,
          scheduledAt: 0,
          leadMinutes: 0,
          platformPostId: null,
          platformUrl: null,
        };
        const at = { account: ACCOUNT, media: new Map(), now: 0 };
        const { errors } = platform.check?.(post as never, at) ?? { errors: [] };
        return errors.map(String).filter((error) => error.startsWith("metadata.thread[1]"));
      };
      expect(problemsOf("a")).toEqual([]);
      expect(problemsOf("a".repeat(max + 1))).toHaveLength(1);
      // What counts for more than it is, counts so in each part.
      if (platform.measure !== undefined) expect(problemsOf("日".repeat(max + 1))).toHaveLength(1);
    },
  );
});
