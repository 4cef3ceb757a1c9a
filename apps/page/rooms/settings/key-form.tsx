import { useState } from "preact/hooks";
import { useWork } from "../../../ui/use-work.ts";
import type { Role } from "../../../../src/domain/permissions.ts";
import { Button } from "../../../ui/button.tsx";
import { Form, Field, TextField } from "../../../ui/field.tsx";
import { UNSAVED, useLoss } from "../../../ui/leaving.ts";
import { Problem } from "../../../ui/states.tsx";
import { ChannelChoice, RoleChoice } from "./choices.tsx";
import { makeKey } from "./keys-api.ts";
import { EXPIRIES } from "./roles.ts";

const USUAL_ROLE: Role = "writer";

interface KeyFormProps {
  /** What the key is called if nothing else is typed; "": it must be typed. */
  readonly name: string;
  readonly roles: readonly Role[];
  /** What comes once it is made. Default: the key alone. */
  readonly next?: string;
  /** Told the key, which is shown this once. */
  onMade(key: string): void;
}

/** What a new key is called, what it may do, where and for how long. */
export function KeyForm({ name: usualName, roles, next, onMade }: KeyFormProps) {
  const [name, setName] = useState(usualName);
  const [role, setRole] = useState<Role>(USUAL_ROLE);
  const [chosen, setChosen] = useState<readonly string[] | null>(null);
  const [expires, setExpires] = useState("");
  const { isBusy, error, setError, run } = useWork();
  const isTyped = name !== usualName || role !== USUAL_ROLE || chosen !== null || expires !== "";
  useLoss(isTyped ? UNSAVED : null);
  const make = async (): Promise<void> => {
    if (chosen?.length === 0)
      return setError("Channels: none is chosen. Choose at least one, or let it reach all of them.");
    await run(async () =>
      onMade(await makeKey({ name, role, accountIds: chosen, expires: expires === "" ? null : expires })),
    );
  };
  return (
    <Form class="stack" onSubmit={make}>
      <RoleChoice roles={roles} role={role} onChange={setRole} />
      <TextField
        label="Name"
        help="Posts and drafts say who wrote them by this name."
        required
        maxLength={100}
        value={name}
        onText={setName}
      />
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
          {next === undefined ? "Make the key" : `Make the key and show ${next}`}
        </Button>
      </div>
    </Form>
  );
}
