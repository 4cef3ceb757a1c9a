import type { Connected, SecretField, Target } from "../../ports/connect.ts";

/** What a person enters, and sees while typing. `help`: where to find it. */
export function textField(name: string, label: string, help: string): SecretField {
  return { name, label, help, isRequired: true, isSecret: false };
}

/** The same, hidden while it is typed and never shown again. */
export function secretField(name: string, label: string, help: string): SecretField {
  return { name, label, help, isRequired: true, isSecret: true };
}

/** A field that may stay empty. */
export function optional(field: SecretField): SecretField {
  return { ...field, isRequired: false };
}

type TargetFields = Pick<Target, "platformAccountId" | "name" | "secrets"> & Partial<Target>;

/** One channel, whose secrets are never renewed. */
export function oneChannel(found: TargetFields): Connected {
  const target = { handle: null, profileUrl: null, avatarUrl: null, settings: {}, ...found };
  return { tokens: null, targets: [target] };
}
