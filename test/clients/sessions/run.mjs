import { execFile } from "node:child_process";

/** Ends with what it printed, whatever its exit status: a refused call is an answer too. */
export function run(args) {
  return new Promise((resolve) => {
    const options = { maxBuffer: 16 * 1024 * 1024, timeout: 60_000 };
    execFile(process.execPath, args, options, (error, stdout, stderr) =>
      resolve({ status: error?.code ?? 0, stdout, stderr }),
    );
  });
}

/** The program of a package in this workspace. */
export function programOf(path) {
  return new URL(`../node_modules/${path}`, import.meta.url).pathname;
}

/** The text of a tool's result, and whether it is an error. */
export function readResult({ content, isError = false }) {
  return { text: content.map(({ text }) => text).join("\n"), isError };
}

/** The same of a library that throws what was refused. */
export function settle(called, toText) {
  return called.then(
    (answer) => ({ text: toText(answer), isError: false }),
    (error) => ({ text: error.message, isError: true }),
  );
}
