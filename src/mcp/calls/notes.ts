import { isFields } from "../../domain/explain-invalid.ts";
import { DECIDED_WHERE, OTHERS_WORDS } from "../../domain/drafts/notes-for-models.ts";

type Result = Readonly<Record<string, unknown>>;

/** What a model must know of a result and its fields do not say. */
export function notesOn(result: Result): string[] {
  return [
    ...(hasOthersWords(result) ? [OTHERS_WORDS] : []),
    ...(draftsIn(result).some(({ state }) => state === "waiting") ? [DECIDED_WHERE] : []),
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

function draftsIn({ draft, drafts }: Result): Result[] {
  return [draft, ...(Array.isArray(drafts) ? (drafts as unknown[]) : [])].filter(isFields);
}

/** The address holds the id that the file is to have. */
const UPLOAD = /\/files\/(file_\w+)\/upload\b/;

function describeUpload({ uploadUrl }: Result): string[] {
  const id = typeof uploadUrl === "string" ? UPLOAD.exec(uploadUrl)?.[1] : undefined;
  return id === undefined ? [] : [`Send the bytes there with PUT. Then give ${id} as mediaUrl.`];
}
