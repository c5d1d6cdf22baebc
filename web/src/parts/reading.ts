/** Which bound sentence the reader has come to, by scrolling or by keyboard; a press is the page's own. */

/** Of the window's height, from above: the line at which a sentence counts as reached. */
const LINE = 0.4;
/** The same where figures stay in view above the text. */
const LINE_BELOW = 0.72;
/** After one of these it is the reader who scrolls, and no longer the page that follows a press. */
const OWN = ["wheel", "touchmove", "keydown"] as const;

export class Reading {
  private readonly observer: IntersectionObserver;
  private readonly sentences: readonly HTMLElement[];
  private readonly above = new Set<Element>();
  private last: HTMLElement | undefined;
  private begun = false;
  private scrolled = scrollY;
  /** A sentence was chosen, and holds until the reader scrolls: where the page stood then. */
  private held: number | null = null;

  constructor(
    private readonly body: HTMLElement,
    private readonly reached: (sentence: HTMLElement) => void,
    below: boolean,
  ) {
    this.sentences = [...body.querySelectorAll<HTMLElement>("button.bound")];
    // From far above the window down to the line: a sentence crosses it however far one scroll goes. With the document as
    // root the margin counts in a frame too.
    const rootMargin = `1000000px 0px -${100 * (1 - (below ? LINE_BELOW : LINE))}% 0px`;
    this.observer = new IntersectionObserver(this.crossed, { root: document, rootMargin });
    for (const sentence of this.sentences) this.observer.observe(sentence);
    for (const name of OWN) addEventListener(name, this.release, { capture: true, passive: true });
    addEventListener("scrollend", this.settled);
    body.addEventListener("focusin", this.focused);
  }

  stop(): void {
    this.observer.disconnect();
    for (const name of OWN) removeEventListener(name, this.release, { capture: true });
    removeEventListener("scrollend", this.settled);
    this.body.removeEventListener("focusin", this.focused);
  }

  /** The reader chose a sentence: the scrolling that follows is the page's. */
  hold(): void {
    this.held = scrollY;
  }

  private readonly release = (): void => {
    this.held = null;
  };

  /** The page's own scroll is over; what it crossed may still be told, and is not the reader's. */
  private readonly settled = (): void => {
    if (this.held === null || this.held === scrollY) return;
    this.scrolled = scrollY;
    this.release();
  };

  private readonly crossed = (entries: readonly IntersectionObserverEntry[]): void => {
    for (const { isIntersecting, target } of entries) {
      if (isIntersecting) this.above.add(target);
      else this.above.delete(target);
    }
    const now = this.sentences.findLast((sentence) => this.above.has(sentence));
    // Where the page opens nothing has been reached yet; and what moved without a scroll was not moved by the reader.
    const own = this.begun && scrollY !== this.scrolled;
    this.begun = true;
    this.scrolled = scrollY;
    if (now === this.last) return;
    this.last = now;
    if (own && this.held === null && now !== undefined) this.reached(now);
  };

  private readonly focused = (event: FocusEvent): void => {
    const sentence = event.target as HTMLElement;
    if (!sentence.matches("button.bound")) return;
    this.hold();
    if (sentence.matches(":focus-visible")) this.reached(sentence);
  };
}
