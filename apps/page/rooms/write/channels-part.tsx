import { accounts } from "../../data/shared-data.ts";
import { ButtonLink } from "../../../ui/button.tsx";
import { ChannelName, PlatformGlyph } from "../../channel/channel-label.tsx";
import { Bones } from "../../../ui/states.tsx";
import { TO_CONNECT } from "../channels/paths.ts";
import type { Composer } from "./composer.ts";
import { newTarget } from "./form.ts";

/** Whom it goes to: a chip for each channel, with how long the text is there. */
export function ChannelsPart({
  composer,
  error,
}: {
  readonly composer: Composer;
  readonly error: string | null;
}) {
  const { form, checks, state, post } = composer;
  // What could not be looked at is not counted yet.
  const isCounted = state.value.kind !== "failed";
  const all = accounts.value;
  if (all === null) return <Bones rows={1} label="The channels are loading" />;
  const chosen = form.value.targets;
  // Where it went to stays shown, also when the channel was disconnected meanwhile.
  const shown = all.filter(
    ({ id, status }) =>
      chosen.some(({ accountId }) => accountId === id) || (post === null && status !== "disconnected"),
  );
  const toggle = (accountId: string): void =>
    composer.edit((now) => {
      const rest = now.targets.filter((target) => target.accountId !== accountId);
      const taken = now.targets.find((target) => target.accountId === accountId);
      if (taken === undefined) {
        const target = { ...newTarget(accountId), ...composer.channelsAside.get(accountId) };
        return { ...now, targets: [...rest, target] };
      }
      composer.channelsAside.set(accountId, taken);
      return { ...now, targets: rest };
    });
  if (shown.length === 0)
    return (
      <div class="hint">
        <span>No channel is connected yet. What you write is kept as a draft.</span>
        <ButtonLink isSmall href={TO_CONNECT}>
          Connect a channel
        </ButtonLink>
      </div>
    );
  return (
    <fieldset class="plain">
      <legend>Channels</legend>
      <div class="chips">
        {shown.map(({ id, provider, status }) => {
          const isChosen = chosen.some(({ accountId }) => accountId === id);
          const check = isChosen ? checks.value.find(({ accountId }) => accountId === id) : undefined;
          return (
            <label key={id} class={isChosen ? "chip chosen" : "chip"}>
              <input
                type="checkbox"
                checked={isChosen}
                disabled={post !== null}
                onChange={() => toggle(id)}
              />
              <PlatformGlyph provider={provider} />
              <span class="chip-name" dir="auto">
                <ChannelName accountId={id} />
              </span>
              {status === "reconnect_required" && <span class="chip-note">reconnect</span>}
              {check !== undefined && isCounted && <Counter count={check.preview.count} />}
            </label>
          );
        })}
      </div>
      {error !== null && (
        <p class="wrong" role="alert">
          {error}
        </p>
      )}
    </fieldset>
  );
}

function Counter({ count }: { readonly count: { readonly length: number; readonly max: number | null } }) {
  const { length, max } = count;
  if (max === null) return null;
  return (
    <span class={length > max ? "counter over" : "counter"}>
      {length}/{max}
      {length > max && <span class="unseen">, too long</span>}
    </span>
  );
}
