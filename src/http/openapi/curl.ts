interface CurlRequest {
  readonly baseUrl: string;
  readonly method: string;
  readonly path: string;
  /** Needs no key. */
  readonly isOpen: boolean;
  readonly json?: unknown;
}

/** A request as a command for a POSIX shell; the key comes from the environment. */
export function curlOf({ baseUrl, method, path, isOpen, json }: CurlRequest): string {
  const verb = method === "get" ? "" : `-X ${method.toUpperCase()} `;
  const lines = [
    // Braces would be curl's own pattern language.
    `curl ${verb}${quoteShell(baseUrl + path.replaceAll(/\{(\w+)\}/g, "<$1>"))}`,
    ...(isOpen ? [] : ['-H "Authorization: Bearer $POSTHORN_API_KEY"']),
    ...(json === undefined
      ? []
      : [`-H "Content-Type: application/json"`, `-d ${quoteShell(JSON.stringify(json))}`]),
  ];
  return lines.join(" \\\n  ");
}

function quoteShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
