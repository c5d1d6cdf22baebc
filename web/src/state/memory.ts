/** What the page remembers of its reader: colours and digits. A sandboxed frame forbids it, and then nothing is remembered. */

const PREFIX = "retrograd.";

export function remembered<Value extends string>(name: string, otherwise: Value): Value {
  try {
    return (localStorage.getItem(PREFIX + name) as Value | null) ?? otherwise;
  } catch {
    return otherwise;
  }
}

export function remember(name: string, value: string): void {
  try {
    localStorage.setItem(PREFIX + name, value);
  } catch {
    // It lasts as long as the page does.
  }
}
