import { FileImage } from "lucide-preact";
import { useState } from "preact/hooks";
import type { File as StoredFile } from "../../../../src/domain/files/file.ts";
import { useLoad } from "../../data/load.ts";
import { call } from "../../data/tools.ts";
import { Button } from "../../../ui/button.tsx";
import { TextField } from "../../../ui/field.tsx";
import { Picture } from "../../post/picture.tsx";
import { Sheet } from "../../../ui/sheet.tsx";
import { Bones, Empty, Problem } from "../../../ui/states.tsx";
import { keepFiles } from "./media-files.ts";

const PER_PAGE = 48;

interface LibraryProps {
  onPick(file: StoredFile): void;
  onClose(): void;
}

/** The files that are stored already, to choose one. */
export function Library({ onPick, onClose }: LibraryProps) {
  const [search, setSearch] = useState("");
  const [pages, setPages] = useState(1);
  const { data, error, again } = useLoad(async (signal) => {
    const args = { limit: PER_PAGE * pages, ...(search.trim() !== "" && { search: search.trim() }) };
    const answer = await call("list_files", args, { signal });
    keepFiles(answer.files);
    return answer;
  }, `${search} ${pages}`);
  const usable = data?.files.filter(({ status, type }) => status === "ready" && type !== "other");
  return (
    <Sheet title="Your files" onClose={onClose}>
      <TextField label="Search" type="search" value={search} onText={setSearch} />
      {error !== null && <Problem sentence={error} onRetry={again} />}
      {usable === undefined ? (
        error === null && <Bones label="Your files are loading" />
      ) : usable.length === 0 ? (
        <Empty
          icon={<FileImage aria-hidden="true" />}
          title={search === "" ? "No files yet" : "No file of this name"}
          text={
            search === ""
              ? "Pictures, videos and documents that you add to a post are kept here, to be used again."
              : "Try another word of its name or alt text."
          }
        />
      ) : (
        <ul class="library">
          {usable.map((file) => (
            <li key={file.id}>
              <button type="button" onClick={() => onPick(file)}>
                <Picture mediaUrl={file.url} alt="" size={240} pages={file.pages} />
                <span class="note" dir="auto">
                  {file.name}
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {data !== null && data.nextCursor !== null && (
        <Button onClick={() => setPages(pages + 1)}>Show more</Button>
      )}
    </Sheet>
  );
}
