import { forPeople as besideAnAgent } from "../../shared/for-people.ts";

/** What a person can do here by themselves, where an agent's application sends them to the agent. */
const HERE: readonly (readonly [RegExp, string])[] = [
  [/\bAsk your agent to reconnect it\b/g, "Reconnect it under Channels"],
  [/\btell your agent\b/g, "say here whether it is there"],
  [/ Take (?:account )?ids from [\w ]{1,60}\./g, ""],
  [/^(?:id|accountId|deliveryId): there is\b/, "There is"],
];

/** A refusal is written for agents and may name tools. A person reads it here, beside buttons. */
export function forPeople(sentence: string): string {
  return HERE.reduce((text, [pattern, words]) => text.replace(pattern, words), besideAnAgent(sentence));
}
