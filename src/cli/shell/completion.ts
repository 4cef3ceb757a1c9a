import { Argument, type Command } from "commander";
import type { Host } from "../host.ts";

/** A command as far as completing it goes. */
interface Word {
  /** The words that lead to it: none for the program, `keys create` for a command of a command. */
  readonly path: readonly string[];
  readonly choices: readonly Choice[];
  readonly options: readonly Choice[];
}

interface Choice {
  readonly text: string;
  readonly meaning: string;
}

const SHELLS = { bash: toBash, zsh: toZsh, fish: toFish };

export function addCompletionCommand(program: Command, host: Host): void {
  program
    .command("completion")
    .description("print a script by which your shell completes posthorn's commands and options")
    .addArgument(new Argument("<shell>", "which shell").choices(Object.keys(SHELLS)))
    .addHelpText(
      "after",
      `
Examples:
  posthorn completion bash >> ~/.bashrc
  posthorn completion zsh >> ~/.zshrc
  posthorn completion fish > ~/.config/fish/completions/posthorn.fish`,
    )
    .action((shell: keyof typeof SHELLS) => host.terminal.print(SHELLS[shell](wordsOf(program, []))));
}

function wordsOf(command: Command, path: readonly string[]): readonly Word[] {
  const named = command.commands.map((sub) => ({ text: sub.name(), meaning: sub.description() }));
  const chosen = command.registeredArguments.flatMap(({ argChoices = [] }) =>
    argChoices.map((text) => ({ text, meaning: "" })),
  );
  const options = command.options.flatMap(({ long, description }) =>
    typeof long === "string" ? [{ text: long, meaning: description }] : [],
  );
  const help = { text: "--help", meaning: "print help" };
  const word = { path, choices: [...named, ...chosen], options: [...options, help] };
  return [word, ...command.commands.flatMap((sub) => wordsOf(sub, [...path, sub.name()]))];
}

/** Where the script knows no word, bash completes files. */
function toBash(words: readonly Word[]): string {
  const cases = words.map(
    ({ path, choices, options }) =>
      `    "${path.join(" ")}") words="${[...choices, ...options].map(({ text }) => text).join(" ")}" ;;\n`,
  );
  return `# bash completion of posthorn
_posthorn() {
  local word path="" words="" known=" ${pathsOf(words).join(" ; ")} ; "
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $known == *" \${path:+$path }$word ; "* ]] && path="\${path:+$path }$word"
  done
  case $path in
${cases.join("")}  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -o bashdefault -F _posthorn posthorn
`;
}

function toZsh(words: readonly Word[]): string {
  const cases = words.map(({ path, choices, options }) => {
    const described = [...choices, ...options].map(({ text, meaning }) =>
      quoteShell(meaning === "" ? text : `${text}:${meaning}`),
    );
    return `    ${quoteShell(path.join(" "))}) known=(${described.join(" ")}) ;;\n`;
  });
  return `#compdef posthorn
_posthorn() {
  local word place=""
  local -a known paths=(${pathsOf(words).map(quoteShell).join(" ")})
  for word in \${words[2,CURRENT-1]}; do
    (( \${paths[(Ie)\${place:+$place }$word]} )) && place="\${place:+$place }$word"
  done
  case $place in
${cases.join("")}  esac
  _describe posthorn known
  [[ $PREFIX == -* ]] || _files
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _posthorn posthorn
`;
}

function toFish(words: readonly Word[]): string {
  const lines = words.flatMap(({ path, choices, options }) => {
    const here = `-n ${quoteShell(conditionOf(path, words))}`;
    const tell = ({ meaning }: Choice): string => (meaning === "" ? "" : ` -d ${quoteShell(meaning)}`);
    return [
      ...choices.map(
        (choice) => `complete -c posthorn ${here} -a ${quoteShell(choice.text)}${tell(choice)}\n`,
      ),
      ...options.map((option) => `complete -c posthorn ${here} -l ${option.text.slice(2)}${tell(option)}\n`),
    ];
  });
  return `# fish completion of posthorn\n${lines.join("")}`;
}

/** Whether a line of fish is at this command: its words were seen, and none that leads to another one. */
function conditionOf(path: readonly string[], words: readonly Word[]): string {
  const at = path.join(" ");
  const elsewhere = pathsOf(words).flatMap((other) => {
    const before = other.split(" ");
    const last = before.pop() ?? "";
    if (before.join(" ") === at) return [last];
    return at === last && before.length > 0 ? before : [];
  });
  const seen = path.map((word) => `__fish_seen_subcommand_from ${word}`);
  const unseen = elsewhere.length === 0 ? [] : [`not __fish_seen_subcommand_from ${elsewhere.join(" ")}`];
  return [...seen, ...unseen].join("; and ") || "true";
}

function pathsOf(words: readonly Word[]): string[] {
  return words.map(({ path }) => path.join(" ")).filter((path) => path !== "");
}

/** In single quotes nothing means anything, in each of the three. */
function quoteShell(text: string): string {
  return `'${text.replaceAll("'", "’")}'`;
}
