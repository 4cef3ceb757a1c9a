/** A sentence of ours without the quotation of a platform in it. */
export function ownWords(sentence: string | null): string {
  return (sentence ?? "").replaceAll(/ [A-Z][\w.]*(?: [\w.]+){0,2} says: "[^"]*"/g, "");
}
