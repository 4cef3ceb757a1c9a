import { useEffect, useRef } from "preact/hooks";
import { PenOff } from "lucide-preact";
import { useAddress } from "../../data/address.tsx";
import { useLoad } from "../../data/load.ts";
import { may } from "../../data/session.ts";
import { ButtonLink } from "../../../ui/button.tsx";
import { Room } from "../../../ui/room.tsx";
import { Bones, Empty, Problem } from "../../../ui/states.tsx";
import type { Composer } from "./composer.ts";
import { Compose } from "./compose.tsx";
import type { Form } from "./form.ts";
import { recordLastSave } from "./kept-forms.ts";
import { ended } from "./ended-writing.ts";
import { addressOfNew, start } from "./start.ts";

/** One thing is written: a draft, or a post that is changed. */
export function WriteRoom() {
  const { query, url, write } = useAddress();
  const latest = useRef<Composer | null>(null);
  /** The form as the room was entered with it. */
  const first = useRef<Form | null>(null);
  const round = ended.value.get(query["draft"] ?? query["post"] ?? "") ?? 0;
  const begun = useRef({ url, round, number: 0 });
  const mayWrite = query["post"] === undefined ? may("draft") : may("publish");
  // What was typed since then stays.
  const isEnded = begun.current.round !== round && (latest.current?.form.peek() ?? null) === first.current;
  if (begun.current.url !== url || isEnded) {
    const isOwn = query["draft"] !== undefined && query["draft"] === latest.current?.draft.value?.id;
    // What the draft itself puts into the address begins nothing anew.
    begun.current = { url, round, number: begun.current.number + (isOwn && !isEnded ? 0 : 1) };
  }
  const { number } = begun.current;
  /** So that a reload goes on with it. */
  const keepInAddress = (id: string): void =>
    write(`/app/write?${new URLSearchParams({ draft: id }).toString()}`);
  const { data, error, again } = useLoad(async () => {
    const started = await start(query, keepInAddress);
    latest.current = started.kind === "writing" ? started.composer : null;
    first.current = latest.current?.form.peek() ?? null;
    // The day that it was opened for is in the form now, and may be changed there.
    if (query["draft"] !== undefined && query["at"] !== undefined) keepInAddress(query["draft"]);
    return { ...started, number };
  }, String(number));
  useEffect(
    () => () => {
      const left = latest.current;
      if (left === null) return;
      left.end();
      recordLastSave(left.flush(), left.stop);
    },
    [number],
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
    return again === undefined ? (
      <NothingToWrite title={title} sentence={error} />
    ) : (
      <Room title={title}>
        <Problem sentence={error} onRetry={again} />
      </Room>
    );
  if (data === null || data.number !== number)
    return (
      <Room title={title}>
        <Bones label="What you write is loading" />
      </Room>
    );
  if (data.kind === "decided")
    return (
      <NothingToWrite title={title} sentence={data.sentence} isKept={data.isKept} postId={query["post"]} />
    );
  return <Compose key={data.number} composer={data.composer} hint={data.hint} title={title} />;
}

interface NothingProps {
  readonly title: string;
  readonly sentence: string;
  /** Something was written for a post that cannot be changed any more. */
  readonly isKept?: boolean | undefined;
  readonly postId?: string | undefined;
}

/** It is not there, or cannot be changed any more. */
function NothingToWrite({ title, sentence, isKept = false, postId = "" }: NothingProps) {
  return (
    <Room title={title}>
      <Empty icon={<PenOff aria-hidden="true" />} title="Nothing to write here" text={sentence}>
        <ButtonLink href="/app/plan">To the plan</ButtonLink>
        <ButtonLink kind="main" href={isKept ? addressOfNew(postId) : "/app/write"}>
          {isKept ? "Put what you wrote into a new post" : "Write something new"}
        </ButtonLink>
      </Empty>
    </Room>
  );
}
