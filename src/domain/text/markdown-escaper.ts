/**
 * Writes a text so that readers of Markdown see it character by character. Addresses stay as they are (an escape
 * would become part of them), up to a bracket, which could begin a link; what begins a line as a list, a heading or a
 * quotation gets a backslash, and so does what is markup anywhere. `starts` and `signs` as they stand between the
 * brackets of a regular expression.
 */
export function markdownEscaper({
  starts,
  signs,
}: {
  readonly starts: string;
  readonly signs: string;
}): (text: string) => string {
  const address = "https?:\\/\\/[^\\s<[\\]]*[^\\s<[.,:;\"'\\])]";
  const markup = `(${address})|(^[ \\t]*\\d+(?=\\.\\s))|(^[ \\t]*(?=[${starts}]))|[${signs}]`;
  const pattern = new RegExp(markup, "gim");
  return (text) =>
    text.replace(
      pattern,
      (found: string, link?: string, number?: string, lineStart?: string) =>
        link ?? (number === undefined && lineStart === undefined ? `\\${found}` : `${found}\\`),
    );
}
