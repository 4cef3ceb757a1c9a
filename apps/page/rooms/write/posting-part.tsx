import { useEffect, useState } from "preact/hooks";
import { findAccount, platformTitle } from "../../data/shared-data.ts";
import { agreementsOf, type Field } from "./fields.ts";
import { schemaOf } from "./platform-fields.ts";

interface PostingProps {
  readonly accountId: string;
  readonly fields: readonly Field[];
  readonly values: Readonly<Record<string, unknown>>;
  setField(key: string, value: unknown): void;
}

/** What a platform wants its person to decide before each post: what it permits, and what it advertises. */
export function PostingPart({ accountId, fields, values, setField }: PostingProps) {
  const permits = fields.filter(({ kind }) => kind === "permit");
  const disclosures = fields.filter(({ kind }) => kind === "disclosure");
  const isNew = permits.length > 0 && Object.keys(values).length === 0;
  // Off until a person turns it on; what was saved before stays as it is.
  useEffect(() => {
    if (isNew) for (const { key } of permits) setField(key, true);
  }, [isNew]);
  const account = findAccount(accountId);
  if (permits.length === 0 && disclosures.length === 0) return null;
  return (
    <div class="stack tight">
      <p>
        Posts as <strong dir="auto">{account?.name}</strong>
        {typeof account?.handle === "string" && account.handle !== account.name && ` (${account.handle})`}
      </p>
      {permits.length > 0 && (
        <fieldset class="plain">
          <legend>Others may add</legend>
          <div class="picks">
            {permits.map(({ key, label }) => (
              <label key={key} class="check">
                <input
                  type="checkbox"
                  checked={values[key] !== true && !isNew}
                  onChange={(event) => setField(key, !event.currentTarget.checked)}
                />
                {label}
              </label>
            ))}
          </div>
        </fieldset>
      )}
      {disclosures.length > 0 && <Disclosure fields={disclosures} {...{ values, setField }} />}
    </div>
  );
}

function Disclosure({ fields, values, setField }: Omit<PostingProps, "accountId">) {
  const [isOpen, setIsOpen] = useState(fields.some(({ key }) => values[key] === true));
  const isNone = fields.every(({ key }) => values[key] !== true);
  return (
    <>
      <label class="check">
        <input
          type="checkbox"
          role="switch"
          checked={isOpen}
          onChange={() => {
            if (isOpen) for (const { key } of fields) setField(key, undefined);
            setIsOpen(!isOpen);
          }}
        />
        It promotes a brand, product or service
      </label>
      {isOpen && (
        <fieldset class="plain">
          <legend>What it promotes</legend>
          {fields.map(({ key, label, help }) => (
            <label key={key} class="check" title={help}>
              <input
                type="checkbox"
                checked={values[key] === true}
                onChange={(event) => setField(key, event.currentTarget.checked || undefined)}
              />
              {label}
            </label>
          ))}
          {isNone && <p class="warned">Choose at least one, or turn the switch off.</p>}
        </fieldset>
      )}
    </>
  );
}

/** `By posting, you agree to …`, for each platform that asks for it. */
export function Agreements({
  targets,
}: {
  readonly targets: readonly {
    readonly accountId: string;
    readonly values: Readonly<Record<string, unknown>>;
  }[];
}) {
  const told = new Map(
    targets.map(({ accountId, values }) => {
      const agreed = agreementsOf(schemaOf(accountId)).filter(
        (one) => one.with === "" || values[one.with] === true,
      );
      return [findAccount(accountId)?.provider ?? "", agreed] as const;
    }),
  );
  return (
    <>
      {[...told].map(([provider, agreed]) =>
        agreed.length === 0 ? null : (
          <p key={provider} class="muted note">
            By posting, you agree to {platformTitle(provider)}'s{" "}
            {agreed.map(({ title, url }, at) => (
              <span key={url}>
                {at > 0 && " and "}
                <a href={url} target="_blank" rel="noreferrer noopener">
                  {title}
                </a>
              </span>
            ))}
            .
          </p>
        ),
      )}
    </>
  );
}
