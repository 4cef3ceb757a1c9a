import type { Role } from "../../../../src/domain/permissions.ts";
import { accounts } from "../../data/shared-data.ts";
import { ChannelLabel } from "../../channel/channel-label.tsx";
import { ROLE_WORDS } from "./roles.ts";

/* What is given to a key, or to a program that asks. */

interface RoleChoiceProps {
  readonly roles: readonly Role[];
  readonly role: Role;
  onChange(role: Role): void;
}

export function RoleChoice({ roles, role, onChange }: RoleChoiceProps) {
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
  /** What all of them are called. */
  readonly all?: string;
  onChange(chosen: readonly string[] | null): void;
}

export function ChannelChoice({
  chosen,
  all: title = "All channels, later ones too",
  onChange,
}: ChannelChoiceProps) {
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
        {title}
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
