/** What the live page knows of a run, and how each message changes it. */

import { type Entry, type Look, type Message, type Opening, readEntry, type RunState } from "./protocol";

/** The most looks that are kept; beyond, every second one of the older ones is dropped. */
const MOST_LOOKS = 240;

export interface Live {
  readonly opening: Opening | null;
  /** The steps that were made; `entries[k]` is step k + 1. */
  readonly entries: readonly Entry[];
  /** The steps as they went before the run last went back, for comparison. */
  readonly before: readonly Entry[];
  /** In order of their steps. */
  readonly looks: readonly Look[];
  readonly run: RunState;
  /** The step that is looked at; null for the newest. */
  readonly chosen: number | null;
  readonly connected: boolean;
  readonly problem: string;
}

export const NOTHING: Live = {
  opening: null,
  entries: [],
  before: [],
  looks: [],
  run: { running: false, done: 0, steps: 1, pace: 0, problem: "" },
  chosen: null,
  connected: false,
  problem: "",
};

export function received(live: Live, message: Message): Live {
  const run = message.state;
  const base = { ...live, run, connected: true, problem: run.problem };
  switch (message.event) {
    case "opening":
      return { ...base, opening: message, entries: message.entries.map(readEntry), before: [], looks: [message.look], chosen: null };
    case "progress": {
      const fresh = message.entries.map(readEntry);
      const entries = fresh.length ? [...live.entries.slice(0, fresh[0].step - 1), ...fresh] : live.entries;
      return { ...base, entries, looks: withLook(live.looks, message.look) };
    }
    case "back": {
      const before = live.entries.length >= live.before.length ? live.entries : live.before;
      const looks = live.looks.filter((look) => look.step < run.done);
      return { ...base, before, entries: live.entries.slice(0, run.done), looks: withLook(looks, message.look), chosen: null };
    }
    case "state":
      return base;
  }
}

function withLook(looks: readonly Look[], look: Look): readonly Look[] {
  const kept = [...looks.filter((other) => other.step < look.step), look];
  return kept.length <= MOST_LOOKS ? kept : kept.filter((_, index) => index % 2 === 0 || index === kept.length - 1);
}

/** The step that the page shows: the chosen one, or the newest. */
export function shownStep(live: Live): number {
  return Math.min(live.chosen ?? live.run.done, live.run.done);
}

/** The newest look that is not after the step shown. */
export function shownLook(live: Live): Look | null {
  const step = shownStep(live);
  return live.looks.filter((look) => look.step <= step).at(-1) ?? live.looks[0] ?? null;
}
