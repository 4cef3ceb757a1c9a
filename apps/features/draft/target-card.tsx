import { CircleAlert, TriangleAlert } from "lucide-preact";
import type { ComponentChildren } from "preact";
import { upperFirst } from "../../../src/domain/posts/for-people.ts";
import type { Draft } from "../../shared/drafts.ts";
import { longTime } from "../../shared/when.ts";
import { StatusBadge } from "../../ui/badges.tsx";

export type Target = Draft["targets"][number];
export type TargetPost = Draft["posts"][number];

interface TargetCardProps {
  readonly draft: Draft;
  readonly target: Target;
  /** The channel, as its heading. */
  readonly channel: ComponentChildren;
  /** Beside the channel. */
  readonly aside?: ComponentChildren;
  /** What the channel will show. */
  readonly children: ComponentChildren;
  /** The outcome on this channel. */
  renderPost(post: TargetPost): ComponentChildren;
}

/** A channel, with what it will show there. */
export function TargetCard({ draft, target, channel, aside, children, renderPost }: TargetCardProps) {
  const { accountId, scheduledAt, error, warnings } = target;
  return (
    <li class={error === null ? "card" : "card refused"}>
      <div class="head">
        <h3 dir="auto">{channel}</h3>
        {scheduledAt !== null && scheduledAt !== draft.scheduledAt && (
          <span class="muted note">{longTime(scheduledAt)}</span>
        )}
        {aside}
      </div>
      {error !== null && <Remark kind="Error" text={error} />}
      {warnings.map((warning) => (
        <Remark key={warning} kind="Warning" text={warning} />
      ))}
      {children}
      {draft.posts.filter((post) => post.accountId === accountId).map(renderPost)}
    </li>
  );
}

function Remark({ kind, text }: { readonly kind: "Error" | "Warning"; readonly text: string }) {
  const Sign = kind === "Error" ? CircleAlert : TriangleAlert;
  return (
    <p class={kind === "Error" ? "remark bad" : "remark warned"}>
      <Sign aria-hidden="true" size={16} />
      <span dir="auto">
        <span class="unseen">{kind}: </span>
        {upperFirst(text)}
      </span>
    </p>
  );
}

interface PostLineProps {
  readonly post: TargetPost;
  readonly when: string;
  /** To where it can be seen. */
  readonly link: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** What became of a post. */
export function PostLine({ post, when, link, children }: PostLineProps) {
  const { status, scheduledAt, error } = post;
  return (
    <div class="post">
      <StatusBadge post={post} scheduledAt={scheduledAt} />
      <span class="muted note">{when}</span>
      {link}
      {error !== null && status !== "cancelled" && (
        <p class="remark bad" dir="auto">
          {error}
        </p>
      )}
      {children}
    </div>
  );
}
