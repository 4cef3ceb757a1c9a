import { CircleCheck } from "lucide-preact";
import type { ComponentChildren } from "preact";
import type { Post } from "../../../../src/domain/posts/post.ts";
import { now } from "../../../shared/clock.ts";
import { useLoad } from "../../data/load.ts";
import { countPosts } from "../../../shared/texts.ts";
import { may } from "../../data/session.ts";
import { learnedPosts } from "../../data/learned-posts.ts";
import { loadStatus, platformTitle, status } from "../../data/shared-data.ts";
import { listAllPosts } from "../../data/list-posts.ts";
import { following } from "../../channel/follow-posts.ts";
import { ButtonLink } from "../../../ui/button.tsx";
import { Room } from "../../../ui/room.tsx";
import { Bones, Empty, Problem } from "../../../ui/states.tsx";
import { LostRow, PausedRow } from "./channel-row.tsx";
import { FailureList } from "./failure-list.tsx";
import { asKnown, groupTroubles, isCalm, type TroublePosts, type Troubles } from "./grouping.ts";
import { PostRow, Reason } from "./post-row.tsx";
import { TryingRow } from "./trying-row.tsx";
import { errorInWords } from "./error-words.ts";

async function loadTroubles(signal: AbortSignal): Promise<TroublePosts> {
  const to = new Date(now()).toISOString();
  const [failed, late, begun] = await Promise.all([
    listAllPosts({ status: ["failed"] }, { signal }),
    listAllPosts({ status: ["scheduled", "uploaded"], to }, { signal }),
    listAllPosts({ status: ["publishing"] }, { signal }),
  ]);
  return { failed, late: [...late, ...begun] };
}

/** What went wrong, and what a person does about it. */
export function TroubleRoom() {
  const counts = status.value?.counts;
  // What fails or is mended meanwhile changes the counts.
  const { failed = 0, unknownOutcome = 0, overdue = 0, publishing = 0, uploaded = 0 } = counts ?? {};
  const key = JSON.stringify([failed, unknownOutcome, overdue, publishing, uploaded]);
  const { data, error, again, reload } = useLoad(loadTroubles, key);
  const refresh = (): void => {
    reload();
    void loadStatus();
  };
  const posts = data && asKnown(data, learnedPosts.value);
  const mayMend = may("publish") || may("accounts");
  return (
    <Room title="Trouble" lead="What does not go on without you, most urgent first.">
      {!mayMend && <p class="hint">You can read what went wrong. To mend it takes a key that may do more.</p>}
      {error !== null && <Problem sentence={error} onRetry={again} />}
      {posts !== null && status.value !== null ? (
        <Groups
          troubles={groupTroubles(status.value, posts.failed, now(), posts.late)}
          isBegun={following.value > 0}
          onDone={refresh}
        />
      ) : (
        error === null && <Bones rows={4} label="What needs you is loading" />
      )}
    </Room>
  );
}

interface GroupsProps {
  readonly troubles: Troubles;
  /** Something was sent from here and is on its way: it could fail yet. */
  readonly isBegun: boolean;
  onDone(): void;
}

function Groups({ troubles, isBegun, onDone }: GroupsProps) {
  const { stopped, unknown, lost, failures, older, setup, paused, expiring } = troubles;
  const trying = <UnderWay posts={troubles.trying} onDone={onDone} />;
  if (isCalm(troubles))
    return (
      <>
        <Empty
          icon={<CircleCheck aria-hidden="true" />}
          title={isBegun ? "Nothing needs you yet" : "Nothing needs you"}
          text="Posts that fail and channels that lose their access are listed here, with what to do about them."
        />
        {trying}
      </>
    );
  return (
    <>
      {stopped !== null && <PublisherStopped {...stopped} />}
      <Group
        title="Did they go out?"
        lead="The platform did not answer in the end. Look at the channel, then tell."
        count={unknown.length}
      >
        <ul class="trouble-rows">
          {unknown.map((post) => (
            <PostRow key={post.id} post={post} onDone={onDone} />
          ))}
        </ul>
      </Group>
      <Group title="Reconnect" lead="Nothing goes out on these channels until you do." count={lost.length}>
        <ul class="trouble-rows">
          {lost.map((one) => (
            <LostRow key={one.account.id} lost={one} onDone={onDone} />
          ))}
        </ul>
      </Group>
      <Group
        title="Failed"
        lead="Change a post where its reason asks for it. Or send it again as it is."
        count={failures.reduce((sum, { posts }) => sum + posts.length, 0)}
      >
        <FailureList failures={failures} onDone={onDone} />
      </Group>
      <Group title="Set-up" lead="Only the person who runs Posthorn can mend this." count={setup.length}>
        <SetupRows setup={setup} />
      </Group>
      <Group title="Paused" lead="Posts wait for channels that someone paused." count={paused.length}>
        <ul class="trouble-rows">
          {paused.map((account) => (
            <PausedRow key={account.id} account={account} onDone={onDone} />
          ))}
        </ul>
      </Group>
      <Group title="Soon" lead="Access that ends, if no one renews it." count={expiring.length}>
        <ul class="trouble-rows">
          {expiring.map((one) => (
            <LostRow key={one.account.id} lost={one} onDone={onDone} />
          ))}
        </ul>
      </Group>
      {trying}
      {older.length > 0 && (
        <details class="trouble-older">
          <summary>
            Failed more than a week ago ({older.reduce((sum, { posts }) => sum + posts.length, 0)})
          </summary>
          <FailureList failures={older} onDone={onDone} />
        </details>
      )}
    </>
  );
}

/** What Posthorn tries again or asks about by itself. */
function UnderWay({ posts, onDone }: { readonly posts: readonly Post[]; onDone(): void }) {
  return (
    <Group
      title="Under way"
      lead="Posthorn tries these again, or asks whether they went out, by itself."
      count={posts.length}
    >
      <ul class="trouble-rows">
        {posts.map((post) => (
          <TryingRow key={post.id} post={post} onDone={onDone} />
        ))}
      </ul>
    </Group>
  );
}

interface GroupProps {
  readonly title: string;
  readonly lead: string;
  readonly count: number;
  readonly children: ComponentChildren;
}

function Group({ title, lead, count, children }: GroupProps) {
  if (count === 0) return null;
  return (
    <section class="trouble-group" aria-label={title}>
      <header>
        <h2>
          {title} <span class="muted">{count}</span>
        </h2>
        <p class="muted note">{lead}</p>
      </header>
      {children}
    </section>
  );
}

function PublisherStopped({ waiting, overdue }: { readonly waiting: number; readonly overdue: number }) {
  const late = overdue === 0 ? "" : ` ${countPosts(overdue)} ${overdue === 1 ? "is" : "are"} late already.`;
  return (
    <div class="problem" role="alert">
      <div class="trouble-text">
        <h2>Nothing goes out</h2>
        <p>
          No publisher runs, and {countPosts(waiting)} {waiting === 1 ? "waits" : "wait"}.{late} Start it on
          the machine that Posthorn is on: <code>posthorn serve</code>
        </p>
      </div>
    </div>
  );
}

function SetupRows({ setup }: { readonly setup: Troubles["setup"] }) {
  return (
    <ul class="trouble-rows">
      {setup.map(({ provider, reason }) => (
        <li key={provider} class="trouble-row">
          <div class="trouble-text">
            <p class="title">{platformTitle(provider)}</p>
            <Reason told={errorInWords(reason)} />
          </div>
          {may("admin") && (
            <div class="buttons trouble-buttons">
              <ButtonLink isSmall href={`/app/channels?setup=${encodeURIComponent(provider)}`}>
                Set up {platformTitle(provider)}
              </ButtonLink>
            </div>
          )}
        </li>
      ))}
    </ul>
  );
}
