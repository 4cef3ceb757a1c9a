import { signal } from "@preact/signals";
import type { PlatformListing } from "../../../../src/domain/accounts/platform-listing.ts";
import { isJson, type Json } from "../../../shared/json.ts";
import { findAccount } from "../../data/shared-data.ts";
import { call } from "../../data/tools.ts";
import { type Field, fieldsOf, isShared, takesKey } from "./fields.ts";
import type { TargetForm } from "./form.ts";

/** Platforms with all that they take, once asked for. */
const known = signal<ReadonlyMap<string, PlatformListing>>(new Map());
const AT_ONCE = 10;

/** Asks for what the platforms take that are not known yet. Rejects where the server does not answer. */
export async function learnPlatforms(providers: readonly string[], signal: AbortSignal): Promise<void> {
  const unknown = [...new Set(providers)].filter((one) => !known.value.has(one));
  for (let at = 0; at < unknown.length; at += AT_ONCE) {
    const provider = unknown.slice(at, at + AT_ONCE);
    const { platforms } = await call("list_platforms", { provider }, { signal });
    known.value = new Map([...known.value, ...platforms.map((one) => [one.provider, one] as const)]);
  }
}

export function schemaOf(accountId: string): Json | undefined {
  const schema = known.value.get(findAccount(accountId)?.provider ?? "")?.metadataSchema;
  return isJson(schema) ? schema : undefined;
}

/** A field that several channels may take. */
export interface SharedField extends Field {
  readonly accountIds: readonly string[];
}

/** Fields of all chosen channels that mean the same everywhere, each once. */
export function sharedFields(targets: readonly TargetForm[]): readonly SharedField[] {
  const byKey = new Map<string, SharedField>();
  for (const { accountId } of targets) {
    for (const field of fieldsOf(schemaOf(accountId))) {
      if (!isShared(field.key)) continue;
      const before = byKey.get(field.key);
      byKey.set(field.key, {
        ...(before ?? field),
        isRequired: field.isRequired || before?.isRequired === true,
        options: [...new Set([...(before?.options ?? []), ...field.options])],
        // Where limits differ, the channel says so.
        max: before !== undefined && before.max !== field.max ? null : field.max,
        help: before !== undefined && before.help !== field.help ? "" : field.help,
        accountIds: [...(before?.accountIds ?? []), accountId],
      });
    }
  }
  return [...byKey.values()];
}

/** Fields that only this channel's platform has. */
export function ownFields(accountId: string): readonly Field[] {
  return fieldsOf(schemaOf(accountId)).filter(({ key }) => !isShared(key));
}

export function takersOf(targets: readonly TargetForm[], key: string): readonly string[] {
  return targets.flatMap(({ accountId }) => (takesKey(schemaOf(accountId), key) ? [accountId] : []));
}
