import { CircleAlert, TriangleAlert } from "lucide-preact";
import { useLoad } from "../../data/load.ts";
import { call } from "../../data/tools.ts";
import type { Draft } from "../../../shared/drafts.ts";
import { findAccount, platformTitle } from "../../data/shared-data.ts";
import { longTime, shortTime } from "../../data/when.ts";
import { StatusBadge } from "../../../ui/badges.tsx";
import { ChannelLabel } from "../../../ui/channel.tsx";
import { PostPreview } from "../../../ui/preview.tsx";
import type { Seen } from "./changes.ts";
import { isOtherThan } from "./changes.ts";
import { differencesOf } from "./differences.ts";
import type { Item } from "./item.ts";

type Target = Draft["targets"][number];

/** Fields that the preview shows already. */
const SHOWN_FIELDS: readonly string[] = ["altText", "moreMedia", "thread", "thumbnailUrl"];

/** A channel, with what it will show there. `before`: what is compared with; null: nothing is marked. */
export function TargetCard({
  item: { raw, shown },
  target,
  before,
}: {
  readonly item: Item;
  readonly target: Target;
  readonly before: Seen | null;
}) {
  const { accountId, scheduledAt, error, warnings } = target;
  const preview = raw.checks.find((check) => check.accountId === accountId)?.preview;
  const seen = before?.channels.find((one) => one.accountId === accountId);
  const posts = shown.posts.filter((post) => post.accountId === accountId);
  return (
    <li class={error === null ? "card review-card" : "card review-card refused"}>
      <div class="review-card-head">
        <h3>
          <ChannelLabel accountId={accountId} />
          <span class="muted note" aria-hidden="true">
            {platformTitle(findAccount(accountId)?.provider ?? "")}
          </span>
        </h3>
        {scheduledAt !== null && scheduledAt !== shown.scheduledAt && (
          <span class="muted note">{longTime(scheduledAt)}</span>
        )}
      </div>
      {error !== null && (
        <p class="review-remark bad">
          <CircleAlert aria-hidden="true" size={16} />
          <span dir="auto">
            <span class="unseen">Error: </span>
            {withoutField(error)}
          </span>
        </p>
      )}
      {warnings.map((warning) => (
        <p key={warning} class="review-remark warned">
          <TriangleAlert aria-hidden="true" size={16} />
          <span dir="auto">
            <span class="unseen">Warning: </span>
            {withoutField(warning)}
          </span>
        </p>
      ))}
      {preview === undefined ? (
        <p class="muted">Nothing is known yet of what will be shown there.</p>
      ) : (
        <PostPreview
          preview={preview}
          renderText={(text, at) =>
            seen === undefined ? text : <Marked before={seen.texts[at] ?? ""} after={text} />
          }
        />
      )}
      <AltTexts target={target} />
      <Fields item={{ raw, shown }} accountId={accountId} />
      {posts.map((post) => (
        <PostLine key={post.id} item={{ raw, shown }} post={post} />
      ))}
    </li>
  );
}

/** What became of it, and whether it still is what was approved. */
function PostLine({ item, post }: { readonly item: Item; readonly post: Draft["posts"][number] }) {
  const { id, status, scheduledAt, platformUrl, error } = post;
  const { data } = useLoad((signal) => call("get_post", { id }, { signal }), id);
  return (
    <div class="review-post">
      <StatusBadge post={post} scheduledAt={scheduledAt} />
      <span class="muted note">{shortTime(scheduledAt)}</span>
      {platformUrl !== null && (
        <a href={platformUrl} target="_blank" rel="noreferrer noopener">
          Open the post
        </a>
      )}
      {error !== null && status !== "cancelled" && (
        <p class="review-remark bad" dir="auto">
          {error}
        </p>
      )}
      {data !== null && isOtherThan(item.raw, data.post) && (
        <p class="review-remark">
          <span>
            Its post was changed since. <a href={`/app/plan?post=${encodeURIComponent(id)}`}>See the post</a>
          </span>
        </p>
      )}
    </div>
  );
}

function Marked({ before, after }: { readonly before: string; readonly after: string }) {
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
          <dd dir="auto">{typeof value === "object" ? JSON.stringify(value) : tellValue(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

function tellValue(value: string | number | boolean | undefined): string {
  return typeof value === "boolean" ? (value ? "Yes" : "No") : String(value ?? "");
}

/** Sentences begin with the name of a field, which people do not know it by. */
function withoutField(sentence: string): string {
  const text = sentence.replace(/^[a-z][A-Za-z.]*: /, "");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** "firstComment" is "First comment" */
function inWords(name: string): string {
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}
