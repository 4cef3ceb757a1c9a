import { useState } from "preact/hooks";
import type { Role } from "../../../../src/domain/permissions.ts";
import { accounts } from "../../data/shared-data.ts";
import { Button } from "../../ui/button.tsx";
import { ChannelLabel } from "../../ui/channel.tsx";
import { Field } from "../../ui/field.tsx";
import { Problem } from "../../ui/states.tsx";
import { sentenceOf } from "../../wire.ts";
import { makeKey } from "./keys-api.ts";
import { EXPIRIES, ROLE_WORDS } from "./roles.ts";

interface KeyFormProps {
  /** What the key is called if nothing else is typed; "": it must be typed. */
  readonly name: string;
  readonly roles: readonly Role[];
  /** Told the key, which is shown this once. */
  onMade(key: string): void;
}

/** What a new key is called, what it may do, where and for how long. */
export function KeyForm({ name: usualName, roles, onMade }: KeyFormProps) {
  const [name, setName] = useState(usualName);
  const [role, setRole] = useState<Role>("writer");
  const [chosen, setChosen] = useState<readonly string[] | null>(null);
  const [expires, setExpires] = useState("");
  const [error, setError] = useState<string | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const make = async (): Promise<void> => {
    if (chosen?.length === 0)
      return setError("Channels: none is chosen. Choose at least one, or let it reach all of them.");
    setIsBusy(true);
    setError(null);
    try {
      onMade(await makeKey({ name, role, accountIds: chosen, expires: expires === "" ? null : expires }));
    } catch (reason) {
      setError(sentenceOf(reason));
      setIsBusy(false);
    }
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void make();
      }}
    >
      <RoleChoice roles={roles} role={role} onChange={setRole} />
      <Field label="Name" help="Posts and drafts say who wrote them by this name.">
        {(control) => (
          <input
            {...control}
            required
            maxLength={100}
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        )}
      </Field>
      <ChannelChoice chosen={chosen} onChange={setChosen} />
      <Field label="Good for how long">
        {(control) => (
          <select {...control} value={expires} onChange={(event) => setExpires(event.currentTarget.value)}>
            {EXPIRIES.map(({ value, label }) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Field>
      {error !== null && <Problem sentence={error} />}
      <div class="sheet-foot">
        <Button kind="main" type="submit" isBusy={isBusy}>
          Make the key
        </Button>
      </div>
    </form>
  );
}

interface RoleChoiceProps {
  readonly roles: readonly Role[];
  readonly role: Role;
  onChange(role: Role): void;
}

function RoleChoice({ roles, role, onChange }: RoleChoiceProps) {
  return (
    <fieldset class="choices">
      <legend>What it may do</legend>
      {roles.map((one) => (
        <label key={one} class="choice">
          <input type="radio" name="role" checked={one === role} onChange={() => onChange(one)} />
          <span>
            <b>{ROLE_WORDS[one].title}</b>
            <span class="muted note">{ROLE_WORDS[one].means}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

interface ChannelChoiceProps {
  /** Null: all. */
  readonly chosen: readonly string[] | null;
  onChange(chosen: readonly string[] | null): void;
}

function ChannelChoice({ chosen, onChange }: ChannelChoiceProps) {
  const all = accounts.value ?? [];
  const toggle = (id: string, isOn: boolean): void => {
    const others = (chosen ?? []).filter((one) => one !== id);
    onChange(isOn ? [...others, id] : others);
  };
  return (
    <fieldset class="choices">
      <legend>Channels</legend>
      <label class="choice line">
        <input
          type="checkbox"
          checked={chosen === null}
          onChange={() => onChange(chosen === null ? [] : null)}
        />
        All channels, later ones too
      </label>
      {chosen !== null && (
        <div class="picks">
          {all.map(({ id }) => (
            <label key={id} class="choice line">
              <input
                type="checkbox"
                checked={chosen.includes(id)}
                onChange={(event) => toggle(id, event.currentTarget.checked)}
              />
              <ChannelLabel accountId={id} />
            </label>
          ))}
        </div>
      )}
    </fieldset>
  );
}
