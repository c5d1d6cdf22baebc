/** A question: its answers, its two hints, and what a wrong answer means. Judged in the page, and remembered. */

import { Component, createRef, type JSX } from "preact";
import { short, typedNumber } from "../model/numbers";
import type { FieldJson, QuestionJson, Words } from "./course";
import { OrderAnswer } from "./order";
import type { AnswerProps, Verdict } from "./parts";
import type { Progress, Standing } from "./progress";

export interface QuestionProps {
  readonly chapter: string;
  readonly number: number;
  readonly question: QuestionJson;
  readonly words: Words;
  readonly progress: Progress;
  readonly theme: string;
}

/** Wrong answers before the right one may be looked up. */
const BEFORE_SHOWING = 2;

export class Question extends Component<QuestionProps, { readonly verdict: Verdict | null; readonly given: readonly string[] }> {
  private readonly said = createRef<HTMLDivElement>();

  constructor(props: QuestionProps) {
    super(props);
    const { given, right } = this.standing;
    const settled = right && !props.progress.answersHidden;
    this.state = { given, verdict: settled ? { right: true, says: this.praise(given), marks: [] } : null };
  }

  private get standing(): Standing {
    return this.props.progress.standing(this.props.chapter, this.props.question.name);
  }

  private update(change: Partial<Standing>): void {
    this.props.progress.update(this.props.chapter, this.props.question.name, change);
  }

  /** What belongs to the right answer. */
  private praise(given: readonly string[]): string {
    const { question } = this.props;
    return question.form === "choice" ? (question.choices[Number(given[0])]?.says ?? "") : question.right;
  }

  private readonly answer = (given: readonly string[], verdict: Verdict | null): void => {
    this.setState({ given, verdict });
    if (verdict === null) return;
    if (!verdict.unread) this.update({ given, tries: this.standing.tries + 1, right: this.standing.right || verdict.right });
    requestAnimationFrame(() => this.said.current?.scrollIntoView({ block: "nearest" }));
  };

  private readonly hint = (): void => this.update({ hints: Math.min(this.props.question.hints.length, this.standing.hints + 1) });

  private readonly show = (): void => {
    const given = rightAnswer(this.props.question);
    this.setState({ given, verdict: { right: true, says: this.praise(given), marks: [] } });
    this.update({ shown: true });
  };

  override render(): JSX.Element {
    const { question, number, words, progress, theme, chapter } = this.props;
    const { verdict, given } = this.state;
    const { hints, tries, right, shown } = this.standing;
    const hidden = progress.answersHidden;
    const told = hidden && !verdict?.unread ? null : verdict;
    const mayShow = !hidden && !right && !shown && (tries >= BEFORE_SHOWING || hints === question.hints.length);
    const id = `${chapter}-${question.name}`;
    const Answer = FORMS[question.form];
    return (
      <section class={`question ${right ? "is-right" : ""}`} aria-labelledby={`${id}-number`} data-question={question.name}>
        <h3 id={`${id}-number`}>
          {words.say("question", { number })}
          {!hidden && right && verdict?.right !== false && <span class="mark"> ✓ {words.say("mark_right")}</span>}
          {!hidden && !right && shown && <span class="mark"> {words.say("mark_shown")}</span>}
          {hidden && tries > 0 && <span class="mark"> {words.say("mark_answered")}</span>}
        </h3>
        <div id={`${id}-prompt`}>
          {question.prompt.map((html, k) => (
            <p key={k} dangerouslySetInnerHTML={{ __html: html }} />
          ))}
        </div>
        <Answer id={id} question={question} words={words} given={given} marks={told?.marks ?? []} theme={theme} onAnswer={this.answer} />
        <div class="verdict" ref={this.said} aria-live="polite">
          {told !== null && (
            <p class={told.right ? "right" : "wrong"}>
              <b>{words.say(told.right ? "verdict_right" : "verdict_wrong")}</b> <span dangerouslySetInnerHTML={{ __html: told.says }} />
            </p>
          )}
          {hidden && tries > 0 && told === null && <p>{words.say("verdict_kept")}</p>}
          {!hidden &&
            question.hints.slice(0, hints).map((html, k) => (
              <p class="hinted" key={k}>
                <b>{words.say("hint", { number: k + 1 })}</b> <span dangerouslySetInnerHTML={{ __html: html }} />
              </p>
            ))}
        </div>
        {!hidden && !right && !shown && (
          <p class="actions more">
            {hints < question.hints.length && (
              <button type="button" onClick={this.hint}>
                {words.say(hints === 0 ? "hint_first" : "hint_second")}
              </button>
            )}
            {mayShow && question.form !== "report" && (
              <button type="button" onClick={this.show}>
                {words.say("show_answer")}
              </button>
            )}
          </p>
        )}
      </section>
    );
  }
}

function rightAnswer(question: QuestionJson): string[] {
  if (question.form === "choice") return [String(question.choices.findIndex((choice) => choice.right))];
  return question.form === "order" ? ["shown"] : question.fields.map((field) => short(field.answer).replace("−", "-"));
}

function ChoiceAnswer({ id, question, words, given, onAnswer }: AnswerProps): JSX.Element {
  const submit = (event: Event): void => {
    event.preventDefault();
    const picked = new FormData(event.currentTarget as HTMLFormElement).get("choice");
    if (picked === null) return;
    const choice = question.choices[Number(picked)];
    onAnswer([String(picked)], { right: choice.right, says: choice.says, marks: [] });
  };
  return (
    <form onSubmit={submit}>
      <fieldset class="choices" aria-labelledby={`${id}-prompt`}>
        {question.choices.map((choice, k) => (
          <label key={k}>
            <input type="radio" name="choice" value={k} required checked={given[0] === String(k)} />
            <span dangerouslySetInnerHTML={{ __html: choice.html }} />
          </label>
        ))}
      </fieldset>
      <button type="submit" class="primary">
        {words.say("check")}
      </button>
    </form>
  );
}

export function near(given: number, wanted: number, tolerance: number): boolean {
  return Math.abs(given - wanted) <= tolerance * Math.abs(wanted) + 1e-9;
}

function meaning(field: FieldJson, given: number, question: QuestionJson): string {
  const { tolerance, rounding, nearly, otherwise } = question;
  const [nearest] = [...field.cases].sort(([one], [other]) => Math.abs(given - one) - Math.abs(given - other));
  if (nearest !== undefined && near(given, nearest[0], tolerance)) return nearest[1];
  if (nearly !== "" && near(given, field.answer, rounding)) return nearly;
  return nearest !== undefined && near(given, nearest[0], rounding) ? nearest[1] : otherwise;
}

/** What is said of a number that is right but for a wrong one above it; null for any other. */
function follows({ fields, tolerance }: QuestionJson, numbers: readonly number[], right: readonly boolean[], k: number): string | null {
  const place = (label: string): number => fields.findIndex((field) => field.label === label);
  const { terms, follows: says } = fields[k];
  const above = [...new Set(terms.map(([, label]) => label))].filter((label) => right[place(label)] === false);
  const wanted = terms.reduce((sum, [local, label, grad]) => sum + local * (numbers[place(label)] ?? grad), 0);
  if (above.length === 0 || !near(numbers[k], wanted, tolerance)) return null;
  return says.replaceAll("{names}", above.map((label) => `<code>${label}</code>`).join(" and "));
}

function NumbersAnswer({ id, question, words, given, marks, onAnswer }: AnswerProps): JSX.Element {
  const several = question.form === "gradients";
  const submit = (event: Event): void => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const inputs = [...form.querySelectorAll<HTMLInputElement>("input")];
    const typed = inputs.map((input) => input.value);
    const numbers = typed.map(typedNumber);
    const bad = numbers.findIndex((number) => number !== number);
    if (bad >= 0) {
      inputs[bad].focus();
      const empty = typed[bad].trim() === "";
      const says = empty ? words.say("no_number") : words.say("not_a_number", { text: escaped(typed[bad]) });
      const marks = numbers.map((number) => (number === number ? undefined : false));
      onAnswer(typed, { right: false, says, marks, unread: true });
      return;
    }
    const right = question.fields.map((field, k) => near(numbers[k], field.answer, question.tolerance));
    if (right.every(Boolean)) {
      onAnswer(typed, { right: true, says: question.right, marks: right });
      return;
    }
    const says = question.fields.flatMap((field, k) =>
      right[k] ? [] : [several ? `<code>${field.label}</code>: ${follows(question, numbers, right, k) ?? meaning(field, numbers[k], question)}` : meaning(field, numbers[k], question)],
    );
    inputs[right.indexOf(false)].select();
    onAnswer(typed, { right: false, says: says.join("<br>"), marks: right });
  };
  return (
    <form class={several ? "numbers several" : "numbers"} onSubmit={submit} noValidate>
      {question.fields.map((field, k) => (
        <label key={field.label} class={marks[k] === undefined ? "" : marks[k] ? "right" : "wrong"}>
          {several && <code>{field.label} =</code>}
          <input
            type="text"
            inputMode="text"
            autocomplete="off"
            spellcheck={false}
            defaultValue={given[k] ?? ""}
            key={given[k]}
            aria-label={several ? field.label : words.say("your_answer")}
            aria-describedby={`${id}-prompt`}
            aria-invalid={marks[k] === false}
          />
          {marks[k] !== undefined && <span aria-hidden="true">{marks[k] ? "✓" : "✗"}</span>}
        </label>
      ))}
      <button type="submit" class="primary">
        {words.say("check")}
      </button>
    </form>
  );
}

function escaped(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;");
}

/** What only the learner can see, and says. */
function ReportAnswer({ question, words, onAnswer }: AnswerProps): JSX.Element {
  return (
    <p class="actions">
      <button type="button" class="primary" onClick={() => onAnswer(["yes"], { right: true, says: question.right, marks: [] })}>
        {words.say("report_yes")}
      </button>
      <button type="button" onClick={() => onAnswer(["no"], { right: false, says: question.otherwise, marks: [] })}>
        {words.say("report_no")}
      </button>
    </p>
  );
}

const FORMS = { choice: ChoiceAnswer, number: NumbersAnswer, gradients: NumbersAnswer, order: OrderAnswer, report: ReportAnswer } as const;
