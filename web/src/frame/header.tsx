/** The top of the page: what is shown, a field to type another program, and the buttons that open dialogs. */

import type { JSX } from "preact";
import { LEAF } from "../model/graph";
import { readProgram, freeNames, splitInputs } from "../model/program";
import type { State, Store, Theme } from "../state/store";
import { Icon } from "../parts/icon";

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
          aria-invalid={state.problem?.at !== undefined}
          aria-describedby={state.problem ? "problem" : undefined}
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
        <button type="button" class="digits" aria-pressed={state.digits === 0} title="How exactly numbers are written (D)" onClick={() => store.prefer({ digits: state.digits ? 0 : 4 })}>
          {state.digits ? `${state.digits} digits` : "all digits"}
        </button>
        <IconButton name="Find a node" hint="Find (/)" d="M7 2.5a4.5 4.5 0 100 9 4.5 4.5 0 000-9zM10.3 10.3L14 14" onClick={() => store.set({ dialog: "find" })} />
        <IconButton name="Share" hint="A link to this, a frame, an assignment" d="M6.5 9.5l3-3M7 5l1.5-1.5a2.8 2.8 0 014 4L11 9M9 11l-1.5 1.5a2.8 2.8 0 01-4-4L5 7" onClick={() => store.set({ dialog: "share" })} />
        <IconButton name="Save or print" hint="Save or print" d="M8 2v8M4.5 7L8 10.5 11.5 7M3 13.5h10" onClick={() => store.set({ dialog: "export" })} />
        <IconButton
          name={`Colours: ${state.theme}`}
          hint={`Colours: ${state.theme}`}
          d={state.theme === "light" ? "M8 5a3 3 0 100 6 3 3 0 000-6zM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1" : state.theme === "dark" ? "M13 9.5A5.5 5.5 0 116.5 3a4.5 4.5 0 006.5 6.5z" : "M8 2a6 6 0 100 12A6 6 0 008 2zM8 2v12M8 5h3.5M8 8h6M8 11h3.5"}
          onClick={() => store.prefer({ theme: NEXT[state.theme] })}
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

/** Open what was typed; names without a number keep the one that an input of that name has, or get 1. */
function openTyped(store: Store, text: string): void {
  const typed = splitInputs(text);
  const { graph, data } = store.state.run;
  const values: Record<string, number> = {};
  try {
    for (const name of freeNames(readProgram(text))) {
      const known = graph.find(name);
      const input = known !== undefined && graph.kinds[known] === LEAF;
      if (typed.values[name] === undefined) values[name] = input ? data[known] : /^(pi|π)$/.test(name) ? Math.PI : 1;
    }
  } catch (problem) {
    store.refuse(problem, "", text);
    return;
  }
  store.open({ text: typed.text, values: { ...typed.values, ...values } });
}
