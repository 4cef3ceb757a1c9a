import { DRAFT_STATES } from "../../shared/drafts.ts";
import type { ComingSentence } from "./coming.ts";
import type { ComingPost } from "./posts.ts";
import { Sign } from "../../ui/tool.tsx";

/** What leads to a series. Left out: nothing does. */
type SeriesAddress = ((draftId: string) => string) | undefined;

interface NameProps {
  readonly draftId: string;
  readonly title: string;
  readonly address: SeriesAddress;
}

function SeriesName({ draftId, title, address }: NameProps) {
  const name = <bdi>{title}</bdi>;
  return <>“{address === undefined ? name : <a href={address(draftId)}>{name}</a>}”</>;
}

/** What a series brings to a time, in a line. */
export function ComingLine({
  sentence,
  address,
}: {
  readonly sentence: ComingSentence;
  readonly address: SeriesAddress;
}) {
  return (
    <span class="none" dir="auto">
      {sentence.before}
      <SeriesName {...sentence} address={address} />
      {sentence.after}
    </span>
  );
}

/** A time of a series that has no post yet, among the posts of its day. */
export function ComingTime({
  one,
  time,
  address,
}: {
  readonly one: ComingPost;
  readonly time: string;
  readonly address: SeriesAddress;
}) {
  return (
    <p class="coming-time muted" dir="auto">
      <Sign sign={DRAFT_STATES.repeating.sign} />
      {`${time} from the series `}
      <SeriesName {...one} address={address} />
      {". Its post is made 14 days ahead."}
    </p>
  );
}

/** A faint mark on a day that a series will bring something to. The cell's name says it. */
export function ComingMark({ count }: { readonly count: number }) {
  if (count === 0) return null;
  return (
    <span class="coming" aria-hidden="true">
      {DRAFT_STATES.repeating.sign}
    </span>
  );
}
