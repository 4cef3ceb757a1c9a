import { ChevronDown, X } from "lucide-preact";
import type { ComponentChildren } from "preact";
import { useId, useRef } from "preact/hooks";
import { accounts } from "../../data/shared-data.ts";
import { Button } from "../../../ui/button.tsx";
import { ChannelLabel } from "../../channel/channel-label.tsx";
import { isFiltered, PLAN_STATES, type PlanFilters, type PlanState } from "./plan-query.ts";
import { TypedInput } from "./typed-input.tsx";

interface PlanFiltersProps {
  readonly filters: PlanFilters;
  /** Labels that are known, to choose from. */
  readonly labels: readonly string[];
  readonly isList: boolean;
  onChange(changes: Partial<PlanFilters>): void;
}

export function Filters({ filters, labels, isList, onChange }: PlanFiltersProps) {
  const { channels, states, label } = filters;
  const listId = useId();
  const shown = isList ? stateNames().filter((state) => state !== "draft") : stateNames();
  return (
    <div class="plan-filters" role="group" aria-label="Filters">
      <Menu name="Channels" count={channels.length}>
        {(accounts.value ?? []).map(({ id }) => (
          <Check
            key={id}
            isOn={channels.includes(id)}
            onChange={() => onChange({ channels: toggle(channels, id) })}
          >
            <ChannelLabel accountId={id} />
          </Check>
        ))}
      </Menu>
      <Menu name="State" count={states.length}>
        {shown.map((state) => (
          <Check
            key={state}
            isOn={states.includes(state)}
            onChange={() => onChange({ states: toggle(states, state) })}
          >
            {PLAN_STATES[state].label}
          </Check>
        ))}
      </Menu>
      <TypedInput
        class={label === "" ? "input plan-label" : "input plan-label on"}
        type="search"
        aria-label="Label"
        placeholder="Label"
        list={listId}
        value={label}
        onValue={(typed) => onChange({ label: typed })}
      />
      <datalist id={listId}>
        {labels.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      {isFiltered(filters) && (
        <Button kind="quiet" isSmall onClick={() => onChange({ channels: [], states: [], label: "" })}>
          <X aria-hidden="true" />
          Show all
        </Button>
      )}
    </div>
  );
}

function stateNames(): readonly PlanState[] {
  return ["scheduled", "published", "failed", "cancelled", "draft"];
}

function toggle<T>(list: readonly T[], one: T): readonly T[] {
  return list.includes(one) ? list.filter((other) => other !== one) : [...list, one];
}

/** Boxes to tick that open below a button; it closes when the focus leaves it, or by Escape. */
function Menu({
  name,
  count,
  children,
}: {
  readonly name: string;
  readonly count: number;
  readonly children: ComponentChildren;
}) {
  const menu = useRef<HTMLDetailsElement>(null);
  const close = (): void => {
    if (menu.current !== null) menu.current.open = false;
  };
  return (
    <details
      ref={menu}
      class="plan-menu"
      onFocusOut={({ relatedTarget }) => {
        if (!(relatedTarget instanceof Node && menu.current?.contains(relatedTarget))) close();
      }}
      onKeyDown={({ key }) => {
        if (key !== "Escape") return;
        close();
        menu.current?.querySelector("summary")?.focus();
      }}
    >
      <summary class={count > 0 ? "button small on" : "button small"}>
        {name}
        {count > 0 && <span class="plan-count">{count}</span>}
        <ChevronDown aria-hidden="true" />
      </summary>
      <div class="plan-menu-list" role="group" aria-label={name} tabIndex={-1}>
        {children}
      </div>
    </details>
  );
}

function Check({
  isOn,
  onChange,
  children,
}: {
  readonly isOn: boolean;
  onChange(): void;
  readonly children: ComponentChildren;
}) {
  return (
    <label class="plan-check">
      <input type="checkbox" checked={isOn} onChange={onChange} />
      {children}
    </label>
  );
}
