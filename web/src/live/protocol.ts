/** What the server of a live run says and is told; described in `src/retrograd/explorer/live.py`. */

import { fromJson } from "../model/numbers";

type JsonNumber = number | string;
/** Step (from 1), loss, accuracy or null, and the norm of each layer's gradient. */
type EntryJson = readonly [number, JsonNumber, number | null, ...JsonNumber[]];

export interface Entry {
  readonly step: number;
  readonly loss: number;
  readonly accuracy: number | null;
  readonly norms: readonly number[];
}

/** What the model made of its problem after a step. */
export interface Look {
  readonly step: number;
  /** What the step learned from, in words. */
  readonly about: string;
  /** For each hidden layer the ReLUs that no example of the step opened. */
  readonly dead: readonly (readonly number[])[];
  /** Of the moons: fifty times the score on a grid, row by row from the top left. */
  readonly scores?: readonly number[];
  /** Of a GPT: documents that it makes up. */
  readonly samples?: readonly string[];
}

export interface RunState {
  readonly running: boolean;
  readonly done: number;
  readonly steps: number;
  /** Steps a second; 0 for as fast as it goes. */
  readonly pace: number;
  readonly problem: string;
}

export interface Opening {
  readonly kind: "moons" | "gpt";
  readonly layers: readonly string[];
  readonly hidden: Readonly<Record<string, number>>;
  readonly settings: Readonly<Record<string, number | string | null>>;
  readonly points?: readonly (readonly [number, number])[];
  readonly labels?: readonly number[];
  /** Left, right, bottom, top. */
  readonly frame?: readonly [number, number, number, number];
  /** Columns and rows of the grid. */
  readonly field?: readonly [number, number];
}

export type Message =
  | ({ readonly event: "opening"; readonly entries: readonly EntryJson[]; readonly look: Look; readonly state: RunState } & Opening)
  | { readonly event: "progress"; readonly entries: readonly EntryJson[]; readonly look: Look; readonly state: RunState }
  | { readonly event: "back"; readonly look: Look; readonly state: RunState }
  | { readonly event: "state"; readonly state: RunState };

export type Command =
  | { readonly do: "run" | "pause" | "step" }
  | { readonly do: "back"; readonly step: number }
  | { readonly do: "pace"; readonly rate: number };

export function readEntry([step, loss, accuracy, ...norms]: EntryJson): Entry {
  return { step, loss: fromJson(loss), accuracy, norms: norms.map(fromJson) };
}

/** Tell the training what to do. The problem, a sentence, when it cannot be done; empty otherwise. */
export async function tell(command: Command): Promise<string> {
  try {
    const answer = await fetch("command", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(command),
    });
    if (answer.ok) return "";
    return ((await answer.json()) as { problem: string }).problem;
  } catch {
    return "The training does not answer: it has ended, or the connection is lost.";
  }
}

/** Where the graph of a step's loss is, or that of one example alone. */
export function graphAddress(step: number, example?: number): string {
  return `graph?step=${step}${example === undefined ? "" : `&example=${example}`}`;
}

/** `layers.0.attn_wq` as `layers[0].attn_wq`. */
export function layerName(path: string): string {
  return path.replace(/\.(\d+)/g, "[$1]");
}
