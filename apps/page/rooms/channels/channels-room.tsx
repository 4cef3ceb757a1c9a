import { Plus, Radio } from "lucide-preact";
import { useEffect } from "preact/hooks";
import { useAddress } from "../../data/address.tsx";
import { useLoad } from "../../data/load.ts";
import { may, mayConnectNew } from "../../data/session.ts";
import { accounts, loadAccounts, loadPlatforms } from "../../data/shared-data.ts";
import { call } from "../../data/tools.ts";
import { ButtonLink } from "../../../ui/button.tsx";
import { Room } from "../../../ui/room.tsx";
import { Bones, Empty, Problem } from "../../../ui/states.tsx";
import { now } from "../../../shared/clock.ts";
import { ChannelCard } from "./channel-card.tsx";
import { ChannelDrawer } from "./channel-drawer.tsx";
import { ConnectPage } from "./connect-page.tsx";
import { Gallery } from "./gallery.tsx";
import { inOrder } from "./health.ts";
import { LIST, TO_CONNECT } from "./paths.ts";
import { offline } from "../../../shared/reach.ts";

export function ChannelsRoom() {
  const { query, go } = useAddress();
  const { connect = query["setup"], account } = query;
  useFreshAccounts();
  if (connect !== undefined && may("accounts"))
    return connect === "" ? (
      <Gallery />
    ) : (
      <ConnectPage key={connect} provider={connect} accountId={account} />
    );
  return (
    <Room
      title="Channels"
      lead="Where your posts go: who they go out as, when, and whether that works."
      actions={
        mayConnectNew() && (
          <ButtonLink kind="main" href={TO_CONNECT}>
            <Plus aria-hidden="true" />
            Connect a channel
          </ButtonLink>
        )
      }
    >
      {!may("accounts") && (
        <p class="hint">
          You can see the channels, but not change them. That takes a key with the permission “accounts”,
          which an administrator can make.
        </p>
      )}
      <Channels />
      {account !== undefined && <ChannelDrawer accountId={account} onClose={() => go(LIST)} />}
    </Room>
  );
}

/** A consent is given in another tab, and this page is come back to. */
function useFreshAccounts(): void {
  useEffect(() => {
    const refresh = (): void => {
      // Out of reach: the frame says so.
      if (document.visibilityState === "visible") loadAccounts().catch(() => {});
    };
    refresh();
    document.addEventListener("visibilitychange", refresh);
    return () => document.removeEventListener("visibilitychange", refresh);
  }, []);
}

const SLOT_DAYS = 14;
/** With a limit of its own a calendar with more posts is cut, and not refused. */
const MOST = 500;

function Channels() {
  const list = accounts.value;
  const planned = (list ?? [])
    .filter(({ schedule }) => (schedule?.slots.length ?? 0) > 0)
    .map(({ id }) => id);
  const slots = useLoad(
    (signal) => loadNextSlots(planned, signal),
    JSON.stringify((list ?? []).map(({ id, schedule, queuedCount }) => [id, schedule, queuedCount])),
  );
  if (list === null)
    return offline.value === null ? (
      <Bones label="The channels are loading" />
    ) : (
      <Problem
        sentence={offline.value}
        onRetry={() => void Promise.all([loadAccounts(), loadPlatforms()]).catch(() => {})}
      />
    );
  const isNew = list.every(({ provider }) => provider === "feed");
  return (
    <>
      <ul class="channel-cards">
        {inOrder(list).map((account) => (
          <ChannelCard key={account.id} account={account} nextSlot={slots.data?.get(account.id) ?? null} />
        ))}
      </ul>
      {isNew && (
        <div class="card">
          <Empty
            icon={<Radio aria-hidden="true" />}
            title={list.length === 0 ? "No channel yet" : "Only your own feed so far"}
            text={
              list.length === 0
                ? "Your channels will be listed here: accounts on Mastodon, Bluesky, YouTube and others."
                : "The feed is good for trying things out. Connect an account on Mastodon, Bluesky, YouTube or another platform, and it will be listed here."
            }
          >
            {mayConnectNew() && (
              <ButtonLink kind={list.length === 0 ? "main" : "plain"} href={TO_CONNECT}>
                <Plus aria-hidden="true" />
                Choose a platform
              </ButtonLink>
            )}
          </Empty>
        </div>
      )}
    </>
  );
}

/** The first free slot of each channel that has any. */
async function loadNextSlots(
  accountIds: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  if (accountIds.length === 0) return new Map();
  const [from, to] = [now(), now() + SLOT_DAYS * 24 * 3_600_000].map((ms) => new Date(ms).toISOString());
  const { freeSlots } = await call(
    "show_calendar",
    { from, to, accountId: accountIds, limit: MOST },
    { signal },
  );
  return new Map(freeSlots.toReversed().map(({ accountId, at }) => [accountId, at]));
}
