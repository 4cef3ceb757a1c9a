import { useLocation } from "preact-iso";
import { useEffect, useRef } from "preact/hooks";
import { PenOff } from "lucide-preact";
import { useLoad } from "../../data/load.ts";
import { may } from "../../data/session.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { Room } from "../../ui/room.tsx";
import { Bones, Empty, Problem } from "../../ui/states.tsx";
import type { Composer } from "./composer.ts";
import { Compose } from "./compose.tsx";
import { start } from "./start.ts";

/** One thing is written: a draft, or a post that is changed. */
export function WriteRoom() {
  const { query, url } = useLocation();
  const latest = useRef<Composer | null>(null);
  const mayWrite = query["post"] === undefined ? may("draft") : may("publish");
  // The address that one came with; what the draft itself puts into it starts nothing anew.
  const { data, error, reload } = useLoad(async () => {
    const started = await start(query);
    latest.current = started.kind === "writing" ? started.composer : null;
    return { ...started, url };
  }, url);
  useEffect(
    () => () => {
      void latest.current?.flush();
      latest.current?.end();
    },
    [url],
  );
  const title = query["post"] === undefined ? "Write" : "Change a post";
  if (!mayWrite)
    return (
      <Room title={title}>
        <Empty
          icon={<PenOff aria-hidden="true" />}
          title="You can look, and not write"
          text="The key that you signed in with may only read. Sign in with one that may write."
        />
      </Room>
    );
  if (error !== null)
    return (
      <Room title={title}>
        <Problem sentence={error} onRetry={reload} />
      </Room>
    );
  if (data === null || data.url !== url)
    return (
      <Room title={title}>
        <Bones label="What you write is loading" />
      </Room>
    );
  if (data.kind === "decided")
    return (
      <Room title={title}>
        <Empty icon={<PenOff aria-hidden="true" />} title="Nothing to write here" text={data.sentence}>
          <ButtonLink href="/app/plan">To the plan</ButtonLink>
          <ButtonLink kind="main" href="/app/write">
            Write something new
          </ButtonLink>
        </Empty>
      </Room>
    );
  return <Compose key={data.url} composer={data.composer} title={title} />;
}
