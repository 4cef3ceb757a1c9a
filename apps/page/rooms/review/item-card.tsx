import { differencesOf } from "../../../features/draft/differences.ts";
import { isOtherThan, type DraftSnapshot } from "../../../features/draft/changes.ts";
import { PostLine, TargetCard, type Target, type TargetPost } from "../../../features/draft/target-card.tsx";
import { ChannelLabel } from "../../channel/channel-label.tsx";
import { PostPreview } from "../../post/preview.tsx";
import { useLoad } from "../../data/load.ts";
import { findAccount, platformTitle } from "../../data/shared-data.ts";
import { call } from "../../data/tools.ts";
import { shortTime } from "../../../shared/when.ts";
import type { Item } from "./item.ts";

/** Fields that the preview shows already. */
const SHOWN_FIELDS: readonly string[] = ["altText", "moreMedia", "thread", "thumbnailUrl"];

interface ItemCardProps {
  readonly item: Item;
  readonly target: Target;
  /** What is compared with. Null: nothing is marked. */
  readonly before: DraftSnapshot | null;
}

/** A channel, with pictures and all fields. */
export function ItemCard({ item, target, before }: ItemCardProps) {
  const { raw, shown } = item;
  const { accountId } = target;
  const preview = raw.checks.find((check) => check.accountId === accountId)?.preview;
  const seen = before?.channels.find((one) => one.accountId === accountId);
  return (
    <TargetCard
      draft={shown}
      target={target}
      channel={
        <>
          <ChannelLabel accountId={accountId} />
          <span class="muted note" aria-hidden="true">
            {platformTitle(findAccount(accountId)?.provider ?? "")}
          </span>
        </>
      }
      renderPost={(post) => <ItemPost key={post.id} item={item} post={post} />}
    >
      {preview === undefined ? (
        <p class="muted">Nothing is known yet of what will be shown there.</p>
      ) : (
        <PostPreview
          preview={preview}
          renderText={(text, at) =>
            seen === undefined ? text : <MarkedText before={seen.texts[at] ?? ""} after={text} />
          }
        />
      )}
      <AltTexts target={target} />
      <Fields item={item} accountId={accountId} />
    </TargetCard>
  );
}

/** What became of it, and whether it still is what was approved. */
function ItemPost({ item, post }: { readonly item: Item; readonly post: TargetPost }) {
  const { id, scheduledAt, platformUrl } = post;
  const { data } = useLoad((signal) => call("get_post", { id }, { signal }), id);
  return (
    <PostLine
      post={post}
      when={shortTime(scheduledAt)}
      link={
        platformUrl !== null && (
          <a href={platformUrl} target="_blank" rel="noreferrer noopener">
            Open the post
          </a>
        )
      }
    >
      {data !== null && isOtherThan(item.raw, data.post) && (
        <p class="remark">
          <span>
            Its post was changed since. <a href={`/app/plan?post=${encodeURIComponent(id)}`}>See the post</a>
          </span>
        </p>
      )}
    </PostLine>
  );
}

function MarkedText({ before, after }: { readonly before: string; readonly after: string }) {
  if (before === after) return <>{after}</>;
  return (
    <>
      {differencesOf(before, after).map(({ kind, text }, at) =>
        kind === "same" ? text : kind === "added" ? <ins key={at}>{text}</ins> : <del key={at}>{text}</del>,
      )}
    </>
  );
}

/** What those are told who do not see the pictures. */
function AltTexts({ target: { preview } }: { readonly target: Target }) {
  if (preview === null) return null;
  const media = [preview, ...preview.parts].flatMap((part) => part.media);
  const told = media.filter(({ altText, type }) => altText !== null || type === "image");
  return (
    <>
      {told.map(({ url, altText }) => (
        <p key={url} class="muted note" dir="auto">
          {altText === null ? "This picture has no description." : `Described as “${altText}”`}
        </p>
      ))}
    </>
  );
}

/** The platform's own fields that are plain values. */
function Fields({ item: { raw }, accountId }: { readonly item: Item; readonly accountId: string }) {
  const target = raw.targets.find((one) => one.accountId === accountId);
  const fields = Object.entries({ ...raw.metadata, ...target?.metadata }).filter(
    ([name, value]) => !SHOWN_FIELDS.includes(name) && value !== null && value !== "",
  );
  if (fields.length === 0) return null;
  return (
    <dl class="review-fields">
      {fields.map(([name, value]) => (
        <div key={name}>
          <dt>{inWords(name)}</dt>
          <dd dir="auto">{typeof value === "object" ? JSON.stringify(value) : valueInWords(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

function valueInWords(value: string | number | boolean | undefined): string {
  return typeof value === "boolean" ? (value ? "Yes" : "No") : String(value ?? "");
}

/** "firstComment" is "First comment" */
function inWords(name: string): string {
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}
