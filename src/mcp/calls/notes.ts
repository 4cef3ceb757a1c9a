import { isFields } from "../../domain/explain-invalid.ts";
import { DECIDED_WHERE, OTHERS_WORDS } from "../../domain/drafts/notes-for-models.ts";

type Result = Readonly<Record<string, unknown>>;

/** What a model must know of a result and its fields do not say. */
export function notesOn(result: Result): string[] {
  return [
    ...(hasOthersWords(result) ? [OTHERS_WORDS] : []),
    ...(hasWaiting(result) ? [DECIDED_WHERE] : []),
    ...describeUpload(result),
  ];
}

/** Lists whose names come from platforms. */
const OF_OTHERS = ["accounts", "choices"];

/** What a platform said is quoted (`saysOf`). */
function hasOthersWords(result: Result): boolean {
  const hasNames = OF_OTHERS.some((key) => Array.isArray(result[key]) && result[key].length > 0);
  return hasNames || JSON.stringify(result).includes(' says: \\"');
}

/** Drafts that wait for a person; those of a table are named by their ids alone. */
function hasWaiting({ draft, drafts, rows }: Result): boolean {
  return (
    [draft, ...listOf(drafts)].some((one) => isFields(one) && one["state"] === "waiting") ||
    listOf(rows).some((one) => isFields(one) && String(one["id"]).startsWith("dft_"))
  );
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The address holds the id that the file is to have. */
const UPLOAD = /\/files\/(file_\w+)\/upload\b/;

function describeUpload({ uploadUrl }: Result): string[] {
  const id = typeof uploadUrl === "string" ? UPLOAD.exec(uploadUrl)?.[1] : undefined;
  return id === undefined ? [] : [`Send the bytes there with PUT. Then give ${id} as mediaUrl.`];
}
