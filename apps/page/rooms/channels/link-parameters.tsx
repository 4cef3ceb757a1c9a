import { useState } from "preact/hooks";
import type { Account } from "../../../../src/domain/accounts/account.ts";
import { withUtm } from "../../../../src/domain/posts/utm.ts";
import { loadAccounts } from "../../data/shared-data.ts";
import { call } from "../../data/tools.ts";
import { useWork } from "../../../ui/use-work.ts";
import { Button } from "../../../ui/button.tsx";
import { Conflict } from "../../../ui/conflict.tsx";
import { Form, TextField } from "../../../ui/field.tsx";
import { UNSAVED, useLoss } from "../../../ui/leaving.ts";
import { Problem } from "../../../ui/states.tsx";
import { say } from "../../../ui/toasts.tsx";
import { useBase } from "./use-base.ts";

const PARTS = [
  { name: "source", label: "Source", hint: "for example {provider}" },
  { name: "medium", label: "Medium", hint: "for example social" },
  { name: "campaign", label: "Campaign", hint: "for example {label}" },
] as const;

const EXAMPLE = "https://example.com/article";

function partsOf({ utm }: Account) {
  return { source: utm?.source ?? "", medium: utm?.medium ?? "", campaign: utm?.campaign ?? "" };
}

/** What is added to links, so that a website's statistics tell where its readers come from. */
export function LinkParameters({ account }: { readonly account: Account }) {
  const { id, provider, utm } = account;
  const [given, setGiven] = useState(() => partsOf(account));
  const base = useBase(account, partsOf, setGiven);
  const { isBusy, error, run } = useWork();
  const isChanged = PARTS.some(({ name }) => given[name].trim() !== base.base[name]);
  base.useFollow(isChanged);
  useLoss(isChanged ? UNSAVED : null);
  const { caption } = withUtm({ caption: EXAMPLE }, { utm: given, provider, label: "winter" });
  const save = (isAsked = false): Promise<boolean> =>
    run(async () => {
      if (!isAsked && !(await base.isCurrent())) return;
      const parts = PARTS.map(({ name }) => [name, given[name].trim() || null] as const);
      const isEmpty = parts.every(([, value]) => value === null);
      await call("update_account", { accountId: id, utm: isEmpty ? null : Object.fromEntries(parts) });
      base.saved(given);
      await loadAccounts();
      say("Saved. Posts that are planned from now on get it.");
    });
  return (
    <details class="link-parameters" open={utm !== null}>
      <summary>
        <h3>Link parameters</h3>
      </summary>
      <Form class="stack" onSubmit={save}>
        <p class="muted">
          They are added to the links of posts, so that your website's statistics show where readers come
          from. <code>{"{provider}"}</code> becomes <code>{provider}</code>. <code>{"{label}"}</code> becomes
          the first label of the post, such as <code>winter</code>.
        </p>
        <div class="thirds">
          {PARTS.map(({ name, label, hint }) => (
            <TextField
              key={name}
              label={label}
              maxLength={200}
              placeholder={hint}
              spellcheck={false}
              autocapitalize="off"
              value={given[name]}
              onText={(text) => setGiven({ ...given, [name]: text })}
            />
          ))}
        </div>
        <p class="note">
          <span class="muted">A link then reads </span>
          <code>{caption}</code>
        </p>
        {error !== null && <Problem sentence={error} />}
        {base.isClash && (
          <Conflict
            what="They were"
            sentence="In the meantime others were set."
            onTheirs={async () => base.takeTheirs()}
            onMine={() => {
              base.keepMine();
              void save(true);
            }}
          />
        )}
        <div class="buttons">
          <Button type="submit" isBusy={isBusy} disabled={!isChanged}>
            Save link parameters
          </Button>
        </div>
      </Form>
    </details>
  );
}
