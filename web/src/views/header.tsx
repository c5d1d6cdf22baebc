/** The top of the page: what is shown, a field to type another program, and the buttons that open dialogs. */

import type { JSX } from "preact";
import { readProgram, freeNames, splitInputs } from "../model/program";
import type { State, Store, Theme } from "../state/store";
import { Icon } from "./transport";

interface Props {
  readonly store: Store;
  readonly state: State;
}

const NEXT: Readonly<Record<Theme, Theme>> = { auto: "dark", dark: "light", light: "auto" };

export function Header({ store, state }: Props): JSX.Element {
  const text = state.program?.text ?? state.run.graph.title;
  return (
    <header class="top">
      <h1>retrograd</h1>
      <form
        class="expression"
        onSubmit={(event) => {
          event.preventDefault();
          const field = event.currentTarget.querySelector("input");
          if (field !== null) openTyped(store, field.value);
        }}
      >
        <input
          type="text"
          aria-label="Expression"
          spellcheck={false}
          autocomplete="off"
          key={text}
          defaultValue={text}
          placeholder="type an expression: (a + b) * c"
          title="Type any expression and press Enter; a = 2 sets a number, and semicolons separate steps"
        />
      </form>
      <nav aria-label="Page">
        <button type="button" onClick={() => store.set({ dialog: "examples" })}>
          Examples
        </button>
        <IconButton name="Find a node" hint="Find (/)" d="M7 2.5a4.5 4.5 0 100 9 4.5 4.5 0 000-9zM10.3 10.3L14 14" onClick={() => store.set({ dialog: "find" })} />
        <IconButton name="Save or print" hint="Save or print" d="M8 2v8M4.5 7L8 10.5 11.5 7M3 13.5h10" onClick={() => store.set({ dialog: "export" })} />
        <IconButton
          name={`Colours: ${state.theme}`}
          hint={`Colours: ${state.theme}`}
          d={state.theme === "light" ? "M8 5a3 3 0 100 6 3 3 0 000-6zM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1" : state.theme === "dark" ? "M13 9.5A5.5 5.5 0 116.5 3a4.5 4.5 0 006.5 6.5z" : "M8 2a6 6 0 100 12A6 6 0 008 2zM8 2v12M8 5h3.5M8 8h6M8 11h3.5"}
          onClick={() => store.set({ theme: NEXT[state.theme] })}
        />
        <IconButton name="Help" hint="What you see, and keys (?)" d="M5.5 6a2.5 2.5 0 115 0c0 1.7-2.5 2-2.5 3.6M8 12.4v.6" onClick={() => store.set({ dialog: "help" })} />
      </nav>
    </header>
  );
}

function IconButton({ name, hint, d, onClick }: { name: string; hint: string; d: string; onClick: () => void }): JSX.Element {
  return (
    <button type="button" class="iconic" aria-label={name} title={hint} onClick={onClick}>
      <Icon d={d} line />
    </button>
  );
}

/** Open what was typed; names without a number keep the one they have, or get 1. */
function openTyped(store: Store, text: string): void {
  const typed = splitInputs(text);
  const { run } = store.state;
  const values: Record<string, number> = {};
  try {
    for (const name of freeNames(readProgram(typed.text))) {
      const known = run.graph.find(name);
      values[name] = typed.values[name] ?? (known === undefined ? 1 : run.data[known]);
    }
  } catch (problem) {
    if (problem instanceof Error) store.set({ problem: problem.message });
    return;
  }
  store.open({ text: typed.text, values });
}
