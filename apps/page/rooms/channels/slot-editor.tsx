import { useState } from "preact/hooks";
import type { Account } from "../../../../src/domain/accounts/account.ts";
import type { Weekday } from "../../../../src/domain/accounts/schedule.ts";
import { may, timezone } from "../../data/session.ts";
import { loadAccounts } from "../../data/shared-data.ts";
import { call } from "../../data/tools.ts";
import { clockTime } from "../../../shared/when.ts";
import { useWork, useRefusal } from "../../../ui/use-work.ts";
import { Button } from "../../../ui/button.tsx";
import { Conflict } from "../../../ui/conflict.tsx";
import { Form, Field, TextField } from "../../../ui/field.tsx";
import { UNSAVED, useLoss } from "../../../ui/leaving.ts";
import { Problem } from "../../../ui/states.tsx";
import { say } from "../../../ui/toasts.tsx";
import { countPosts } from "../../../shared/texts.ts";
import { MovePosts, type PostMove, previewMoves } from "./move-posts.tsx";
import { SlotWeek } from "./slot-week.tsx";
import {
  addTimes,
  countSlots,
  DAYS,
  isSameWeek,
  PRESETS,
  readTimes,
  slotsOf,
  type Week,
  weekOf,
} from "./slots.ts";
import { useBase } from "./use-base.ts";

/** When the channel posts: the times of its week. */
export function SlotEditor({ account }: { readonly account: Account }) {
  const { id } = account;
  const [{ week, zone, gap }, setPlan] = useState(() => planOf(account));
  const setWeek = (change: (week: Week) => Week): void =>
    setPlan((plan) => ({ ...plan, week: change(plan.week) }));
  const base = useBase(account, planOf, setPlan);
  const kept = base.base;
  const { isBusy, error, setError, run } = useWork();
  const [moves, setMoves] = useState<readonly PostMove[] | null>(null);
  const canEdit = may("accounts");
  const isChanged = !isSameWeek(week, kept.week) || zone !== kept.zone || gap !== kept.gap;
  useLoss(isChanged ? UNSAVED : null);
  base.useFollow(isChanged);
  const plan = { timezone: zone, slots: slotsOf(week), minGapMinutes: gap };
  const args = { accountId: id, schedule: plan.slots.length === 0 ? null : plan };

  const store = async (move: boolean): Promise<void> => {
    const { moved } = await call("update_account", { ...args, ...(move && { move }) });
    setMoves(null);
    base.saved({ week, zone, gap });
    await loadAccounts();
    say(
      moved.length === 0
        ? "The slots are saved."
        : `The slots are saved, and ${countPosts(moved.length)} moved.`,
    );
  };
  const save = (isAsked = false): Promise<boolean> =>
    run(async () => {
      if (!isAsked && !(await base.isCurrent())) return;
      const wouldMove = args.schedule === null || account.queuedCount === 0 ? [] : await previewMoves(args);
      if (wouldMove.length === 0) await store(false);
      else setMoves(wouldMove);
    });
  const reset = (): void => {
    setPlan(kept);
    setError(null);
  };

  return (
    <section class="stack" aria-labelledby="channel-slots">
      <div class="stack tight">
        <h3 id="channel-slots">Slots</h3>
        <p class="muted">
          {canEdit
            ? "The times of a week at which this channel posts. A post for the “next slot” takes the first free one."
            : countSlots(week) === 0
              ? "This channel has no slots."
              : `The times of a week at which this channel posts, in the time zone ${zone}.`}
        </p>
      </div>
      {canEdit && countSlots(week) === 0 && <Presets onChoose={(chosen) => setWeek(() => chosen)} />}
      {(canEdit || countSlots(week) > 0) && <SlotWeek week={week} onChange={canEdit ? setWeek : null} />}
      {canEdit && (
        <>
          <SeveralDays onAdd={(days, times) => setWeek((before) => addTimes(before, days, times))} />
          <div class="halves">
            <Field label="Time zone" help="The clock that the times are of.">
              {(control) => (
                <select
                  {...control}
                  value={zone}
                  onChange={({ currentTarget }) => setPlan({ week, gap, zone: currentTarget.value })}
                >
                  {zonesWith(zone).map((one) => (
                    <option key={one} value={one}>
                      {one.replaceAll("_", " ")}
                    </option>
                  ))}
                </select>
              )}
            </Field>
            <TextField
              label="Gap in minutes"
              help="How far a slot keeps from other posts."
              type="number"
              min={0}
              max={10_080}
              step={1}
              value={gap}
              onText={(text) => setPlan({ week, zone, gap: Math.trunc(Number(text)) || 0 })}
            />
          </div>
          {error !== null && <Problem sentence={error} />}
          {base.isClash && (
            <Conflict
              what="The slots were"
              sentence="In the meantime they were set otherwise."
              onTheirs={async () => base.takeTheirs()}
              onMine={() => {
                base.keepMine();
                void save(true);
              }}
            />
          )}
          {(isChanged || isBusy) && !base.isClash && (
            <div class="buttons save-bar">
              <Button kind="main" isBusy={isBusy} onClick={() => save()}>
                Save slots
              </Button>
              <Button kind="quiet" onClick={reset}>
                Take back
              </Button>
              <span class="muted note">
                {countSlots(week) === 0 ? "No slots are left." : `${countSlots(week)} a week, not saved yet.`}
              </span>
            </div>
          )}
        </>
      )}
      {moves !== null && <MovePosts moves={moves} onChoose={store} onClose={() => setMoves(null)} />}
    </section>
  );
}

function planOf({ schedule }: Account) {
  return {
    week: weekOf(schedule?.slots ?? []),
    zone: schedule?.timezone ?? timezone.value,
    gap: schedule?.minGapMinutes ?? 0,
  };
}

function Presets({ onChoose }: { onChoose(week: Week): void }) {
  return (
    <div class="buttons">
      <span class="muted note">Begin with</span>
      {PRESETS.map(({ days, slots }) => (
        <Button key={days} isSmall onClick={() => onChoose(weekOf(slots))}>
          {days} at {slots.flatMap(({ times }) => times.map(clockTime)).join(" and ")}
        </Button>
      ))}
    </div>
  );
}

function SeveralDays({ onAdd }: { onAdd(days: readonly Weekday[], times: readonly string[]): void }) {
  const [days, setDays] = useState<readonly Weekday[]>([]);
  const [text, setText] = useState("");
  const [error, setError] = useRefusal();
  useLoss(text.trim() === "" ? null : UNSAVED);
  const add = (): void => {
    const times = readTimes(text);
    if (days.length === 0) return setError("No day is chosen. Tick the days that the times are for.");
    if (times === null) return setError("The times are not readable. Write them like 9, 12:30, 17:00.");
    onAdd(days, times);
    setError(null);
    setText("");
  };
  return (
    <details>
      <summary>Add times on several days</summary>
      <Form class="stack tight several-days" onSubmit={add}>
        <fieldset class="day-boxes">
          <legend class="unseen">Days</legend>
          {DAYS.map(({ day, name }) => (
            <label key={day}>
              <input
                type="checkbox"
                aria-label={name}
                checked={days.includes(day)}
                onChange={() =>
                  setDays(days.includes(day) ? days.filter((one) => one !== day) : [...days, day])
                }
              />
              {name.slice(0, 3)}
            </label>
          ))}
        </fieldset>
        <div class="beside">
          <TextField
            label="Times"
            help="Such as 9, 12:30, 17:00"
            error={error}
            inputMode="text"
            value={text}
            onText={setText}
          />
          <Button type="submit">Add</Button>
        </div>
      </Form>
    </details>
  );
}

/** All zones that the browser knows, and the present one, which it may call otherwise. */
function zonesWith(present: string): readonly string[] {
  return [...new Set(["UTC", present, ...Intl.supportedValuesOf("timeZone")])].toSorted();
}
