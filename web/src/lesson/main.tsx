/** The entry of the lesson's bundle: shows the course that the page carries, or one figure of it. */

import { Component, createRef, type JSX, render } from "preact";
import { type CourseJson, type FigureJson, Words } from "./course";
import { Figure } from "./figure";
import { asksOfFigure, type Link, readLink } from "./link";
import { Lesson } from "./page";
import { Progress, storageOf } from "./progress";
import "../style/explorer.css";
import "./lesson.css";

const NO_SECRETS: ReadonlyMap<number, boolean> = new Map();

interface Props {
  readonly course: CourseJson;
  readonly link: Link;
}

/** The figure that a link names, in its chapter or in any; the chapter's first where it names none. */
function figureOf({ chapters }: CourseJson, { chapter, figure }: Link): FigureJson | undefined {
  const own = chapters.filter((_, k) => (chapter ?? k) === k).flatMap(({ scenes }) => scenes.flatMap((scene) => scene.figure ?? []));
  return own.find(({ name }) => figure === "" || name === figure);
}

/** One figure without its text, for a frame in another page, whose sentences lead it by the frame's address. */
class Alone extends Component<Props, { readonly theme: string }> {
  private readonly words = new Words(this.props.course.words);
  private readonly place = createRef<HTMLElement>();
  private readonly figure = createRef<Figure>();
  private resize: ResizeObserver | null = null;
  override state = { theme: this.props.link.theme || "auto" };

  override componentDidMount(): void {
    addEventListener("hashchange", this.follow);
    this.resize = new ResizeObserver(this.tell);
    if (this.place.current) this.resize.observe(this.place.current);
    this.go(this.props.link);
  }

  override componentWillUnmount(): void {
    removeEventListener("hashchange", this.follow);
    this.resize?.disconnect();
  }

  /** The page around the frame makes it as high as the figure. */
  private readonly tell = (): void => {
    const height = this.place.current?.getBoundingClientRect().height ?? 0;
    if (parent !== window) parent.postMessage({ retrograd: "height", height: Math.ceil(height) }, "*");
  };

  private readonly follow = (): void => {
    const link = readLink(this.props.course, location.hash);
    this.setState({ theme: link.theme || "auto" });
    this.go(link);
  };

  private go({ go }: Link): void {
    if (go !== null) this.figure.current?.go(go);
  }

  override render(): JSX.Element {
    const { course, link } = this.props;
    const { theme } = this.state;
    const shown = figureOf(course, link);
    return (
      <div class="lesson alone" data-theme={theme} lang={this.words.say("lang")}>
        <main ref={this.place}>
          {link.ignored.length > 0 && (
            <p class="warning ignored" role="alert">
              {this.words.say("link_ignored", { parts: link.ignored.join(", ") })}
            </p>
          )}
          {shown === undefined ? (
            <p class="warning">{this.words.say("link_ignored", { parts: location.hash })}</p>
          ) : (
            <Figure
              ref={this.figure}
              figure={{ ...shown, caption: "" }}
              words={this.words}
              theme={theme}
              digits={link.digits}
              covered={link.answersHidden}
              secret={NO_SECRETS}
              link={asksOfFigure(link) ? link : null}
            />
          )}
        </main>
      </div>
    );
  }
}

/** The course is packed: half of it is numbers, which pack to a half. */
async function unpacked(text: string): Promise<CourseJson> {
  const { packed } = JSON.parse(text) as { readonly packed: string };
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text()) as CourseJson;
}

function show(place: HTMLElement, course: CourseJson): void {
  const link = readLink(course, location.hash);
  const progress = new Progress(storageOf(window), link.answersHidden);
  document.documentElement.lang = course.words.lang ?? "en";
  render(link.alone ? <Alone course={course} link={link} /> : <Lesson course={course} progress={progress} link={link} />, place);
}

const data = document.getElementById("retrograd-data");
const place = document.getElementById("retrograd");
if (data && place) {
  unpacked(data.textContent ?? "{}")
    .then((course) => show(place, course))
    .catch((problem: unknown) => {
      place.textContent = `This page cannot be shown: ${problem instanceof Error ? problem.message : String(problem)}`;
      throw problem;
    });
}
