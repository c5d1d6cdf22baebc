/** The page: the list of chapters, one chapter at a time, its end, and the way to the next. */

import { Component, createRef, type JSX } from "preact";
import { Reading } from "../parts/reading";
import { type BlockJson, type ChapterJson, type CourseJson, questionsOf, type SceneJson, type Target, Words } from "./course";
import { Figure } from "./figure";
import { asksOfFigure, type Link } from "./link";
import type { Progress } from "./progress";
import { Question } from "./question";

interface Props {
  readonly course: CourseJson;
  readonly progress: Progress;
  readonly link: Link;
}

/** Where a figure stays in view above the text that scrolls; the style sheet has the same. */
const ONE_COLUMN = matchMedia("(max-width: 999px) and (min-height: 600px)");

const THEMES: Readonly<Record<string, string>> = { auto: "light", light: "dark", dark: "auto" };

export class Lesson extends Component<Props, { readonly at: number; readonly theme: string }> {
  private readonly words = new Words(this.props.course.words);
  private readonly top = createRef<HTMLHeadingElement>();
  /** The chapter whose figure the link is about: the one that it opens, or the one where the learner was. */
  private readonly linked: number;
  private unsubscribe: () => void = () => undefined;

  constructor(props: Props) {
    super(props);
    const { course, progress, link } = props;
    const last = course.chapters.findIndex(({ name }) => name === progress.last);
    this.state = { at: link.chapter ?? (course.start !== null ? course.start - 1 : Math.max(0, last)), theme: link.theme || progress.theme };
    this.linked = this.state.at;
  }

  override componentDidMount(): void {
    this.unsubscribe = this.props.progress.subscribe(() => this.forceUpdate());
    addEventListener("hashchange", this.follow);
    this.props.progress.visit(this.chapter.name);
    this.entitle();
  }

  override componentDidUpdate(): void {
    this.entitle();
  }

  /** The window and its entry in the history are named after the chapter. */
  private entitle(): void {
    document.title = `${plain(this.chapter.head.title)} – ${this.words.say("course_title")}`;
  }

  override componentWillUnmount(): void {
    this.unsubscribe();
    removeEventListener("hashchange", this.follow);
  }

  private get chapter(): ChapterJson {
    return this.props.course.chapters[this.state.at];
  }

  private readonly turnTheme = (): void => {
    const theme = THEMES[this.state.theme] ?? "auto";
    this.props.progress.setTheme(theme);
    this.setState({ theme });
  };

  /** An assignment is read where the page opens. */
  private readonly follow = (): void => {
    if (location.hash.includes("=")) location.reload();
    const at = this.props.course.chapters.findIndex(({ name }) => `#${name}` === location.hash);
    if (at >= 0) this.open(at);
  };

  private open(at: number): void {
    if (at === this.state.at) return;
    this.setState({ at }, () => {
      this.props.progress.visit(this.chapter.name);
      scrollTo(0, 0);
      this.top.current?.focus();
    });
  }

  override render(): JSX.Element {
    const { course, progress, link } = this.props;
    const { words, chapter } = this;
    const { at, theme } = this.state;
    const next = course.chapters[at + 1];
    return (
      <div class="lesson" data-theme={theme} lang={words.say("lang")}>
        {!link.embedded && (
          <header class="lesson-top">
            <p class="title">{words.say("course_title")}</p>
            <p class="overall">{words.say("overall", { done: course.chapters.filter((own) => progress.isDone(own)).length, count: course.chapters.length })}</p>
            <button type="button" onClick={this.turnTheme}>
              {words.say(`theme_${theme}`)}
            </button>
          </header>
        )}
        {!link.embedded && <Chapters course={course} progress={progress} words={words} at={at} />}
        <main>
          {link.ignored.length > 0 && (
            <p class="warning ignored" role="alert">
              {words.say("link_ignored", { parts: link.ignored.join(", ") })}
            </p>
          )}
          <article aria-labelledby="chapter-title">
            <header class="chapter-head">
              <p class="kicker">
                {words.say("kicker", { number: at + 1, count: course.chapters.length, minutes: chapter.head.minutes })}
              </p>
              <h1 id="chapter-title" tabIndex={-1} ref={this.top} dangerouslySetInnerHTML={{ __html: chapter.head.title }} />
              <p class="idea" dangerouslySetInnerHTML={{ __html: chapter.head.idea }} />
            </header>
            <Body key={chapter.name} chapter={chapter} words={words} progress={progress} theme={theme} digits={link.digits} link={at === this.linked && asksOfFigure(link) ? link : null} />
            <End chapter={chapter} next={next} progress={progress} words={words} />
          </article>
        </main>
      </div>
    );
  }
}

/** Every chapter with its mark. */
function Chapters({ course, progress, words, at }: { course: CourseJson; progress: Progress; words: Words; at: number }): JSX.Element {
  return (
    <nav class="chapters" aria-label={words.say("chapters")}>
      <ol>
        {course.chapters.map((chapter, k) => {
          const [settled, all] = [progress.settled(chapter), questionsOf(chapter).length];
          const mark = settled === all ? "✓" : settled ? `${settled}/${all}` : "";
          return (
            <li key={chapter.name}>
              <a href={`#${chapter.name}`} aria-current={k === at ? "page" : undefined}>
                <span class="n">{k + 1}</span> <span class="name" dangerouslySetInnerHTML={{ __html: chapter.head.title }} />
                {mark && (
                  <span class="mark" aria-label={words.say("settled", { done: settled, count: all })}>
                    {mark}
                  </span>
                )}
              </a>
            </li>
          );
        })}
      </ol>
    </nav>
  );
}

interface BodyProps {
  readonly chapter: ChapterJson;
  readonly words: Words;
  readonly progress: Progress;
  readonly theme: string;
  readonly digits: number | null;
  readonly link: Link | null;
}

/** The scenes of a chapter; a bound sentence that is reached or pressed moves the figure it is bound to. */
class Body extends Component<BodyProps> {
  private readonly figures = new Map<string, Figure>();
  private readonly body = createRef<HTMLDivElement>();
  private reading: Reading | null = null;

  override componentDidMount(): void {
    this.read();
    ONE_COLUMN.addEventListener("change", this.read);
  }

  override componentWillUnmount(): void {
    this.reading?.stop();
    ONE_COLUMN.removeEventListener("change", this.read);
  }

  private readonly read = (): void => {
    this.reading?.stop();
    if (this.body.current) this.reading = new Reading(this.body.current, this.reached, ONE_COLUMN.matches);
  };

  private readonly pressed = (event: MouseEvent): void => {
    const sentence = (event.target as Element).closest<HTMLElement>("button.bound");
    if (sentence === null) return;
    this.reading?.hold();
    const target = targetOf(sentence);
    const figure = this.figures.get(target.figure);
    figure?.go(target);
    figure?.lookAt(sentence);
    this.mark(sentence);
  };

  /** Come to, and not chosen: it moves nothing that the reader is at work on or that a link has set. */
  private readonly reached = (sentence: HTMLElement): void => {
    const target = targetOf(sentence);
    const figure = this.figures.get(target.figure);
    if (figure === undefined || figure.isTaken) return;
    figure.go(target);
    this.mark(sentence);
  };

  private mark(sentence: HTMLElement): void {
    for (const other of this.body.current?.querySelectorAll(".bound[aria-current]") ?? []) other.removeAttribute("aria-current");
    sentence.setAttribute("aria-current", "step");
  }

  override render(): JSX.Element {
    const { chapter, words, progress, theme, digits, link } = this.props;
    let asked = 0;
    const first = chapter.scenes.find(({ figure }) => figure !== null)?.figure?.name;
    const linked = link !== null && (link.figure || first);
    return (
      <div class="body" ref={this.body} onClick={this.pressed}>
        {chapter.scenes.map((scene, k) => (
          <Scene key={k} scene={scene}>
            {scene.heading ? <h2 dangerouslySetInnerHTML={{ __html: scene.heading }} /> : null}
            <div class="text">
              {scene.blocks.map((block, number) =>
                block.kind === "question" ? (
                  <Question key={block.name} chapter={chapter.name} number={++asked} question={block} words={words} progress={progress} theme={theme} />
                ) : (
                  <Plain key={number} block={block} />
                ),
              )}
            </div>
            {scene.figure && (
              <div class="beside-text">
                <Figure
                  ref={(own) => scene.figure && own && this.figures.set(scene.figure.name, own)}
                  figure={scene.figure}
                  words={words}
                  theme={theme}
                  digits={digits}
                  covered={progress.answersHidden && scene.blocks.some((block) => block.kind === "question" && block.form === "gradients")}
                  secret={secretsOf(chapter, scene.figure.name, progress)}
                  link={linked === scene.figure.name ? link : null}
                />
              </div>
            )}
          </Scene>
        ))}
      </div>
    );
  }
}

/** What the open questions of a chapter ask a figure for. */
function secretsOf(chapter: ChapterJson, figure: string, progress: Progress): ReadonlyMap<number, boolean> {
  const open = questionsOf(chapter).filter(({ name }) => progress.answersHidden || !progress.isSettled(progress.standing(chapter.name, name)));
  return new Map(open.flatMap(({ covers }): [number, boolean][] => (covers?.figure === figure ? [[covers.node, covers.wrong]] : [])));
}

function targetOf(sentence: HTMLElement): Target {
  return JSON.parse(sentence.dataset.go ?? "{}") as Target;
}

function Scene({ scene, children }: { scene: SceneJson; children: JSX.Element | (JSX.Element | null)[] }): JSX.Element {
  return <section class={scene.figure ? "scene with-figure" : "scene"}>{children}</section>;
}

function Plain({ block }: { block: Exclude<BlockJson, { kind: "question" }> }): JSX.Element {
  switch (block.kind) {
    case "text":
      return <p dangerouslySetInnerHTML={{ __html: block.html }} />;
    case "heading":
      return <h3 dangerouslySetInnerHTML={{ __html: block.html }} />;
    case "note":
      return <p class="note" dangerouslySetInnerHTML={{ __html: block.html }} />;
    case "list": {
      const items = block.items.map((html, k) => <li key={k} dangerouslySetInnerHTML={{ __html: html }} />);
      return block.ordered ? <ol>{items}</ol> : <ul>{items}</ul>;
    }
    case "code":
      return (
        <pre class={`code ${block.language}`} tabIndex={0}>
          <code>
            {block.text.split("\n").map((line, k) => (
              // What is too long for a narrow page goes on a little further to the right than the line began.
              <span key={k} class="line" style={{ "--indent": `${line.search(/\S|$/) + 2}ch` }}>
                {line}
              </span>
            ))}
          </code>
        </pre>
      );
  }
}

/** What is left to do, or that all is done, and the next chapter. */
function End({ chapter, next, progress, words }: { chapter: ChapterJson; next: ChapterJson | undefined; progress: Progress; words: Words }): JSX.Element {
  const [settled, all] = [progress.settled(chapter), questionsOf(chapter).length];
  const done = settled === all;
  return (
    <footer class={done ? "end done" : "end"} aria-live="polite">
      <h2>{done ? words.say(progress.answersHidden ? "end_answered" : "end_done") : words.say("end_open", { left: all - settled })}</h2>
      {next === undefined ? (
        <p>{words.say(done ? "end_course" : "end_last")}</p>
      ) : (
        <p>
          <a class={done ? "next primary" : "next"} href={`#${next.name}`}>
            {words.say("next")} <span dangerouslySetInnerHTML={{ __html: next.head.title }} /> →
          </a>
        </p>
      )}
      {progress.answersHidden && done && <Sheet chapter={chapter} progress={progress} words={words} />}
    </footer>
  );
}

/** An assignment's answers as text, to be copied and handed in. */
function Sheet({ chapter, progress, words }: { chapter: ChapterJson; progress: Progress; words: Words }): JSX.Element {
  const lines = questionsOf(chapter).map((question, k) => {
    const { given, tries } = progress.standing(chapter.name, question.name);
    const said = question.form === "choice" ? plain(question.choices[Number(given[0])]?.html ?? "") : given.map((text, n) => `${question.form === "gradients" ? `${question.fields[n].label} = ` : ""}${text}`).join(", ");
    return `${k + 1}. ${said} (${words.say("tries", { count: tries })})`;
  });
  return (
    <label class="sheet">
      <span>{words.say("sheet")}</span>
      <textarea readOnly rows={lines.length + 1} value={[`${plain(chapter.head.title)}`, ...lines].join("\n")} onFocus={(event) => event.currentTarget.select()} />
    </label>
  );
}

function plain(html: string): string {
  return new DOMParser().parseFromString(html, "text/html").body.textContent ?? "";
}
