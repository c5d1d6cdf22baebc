/** The entry of the lesson's bundle: shows the course that the page carries. */

import { render } from "preact";
import type { CourseJson } from "./course";
import { readLink } from "./link";
import { Lesson } from "./page";
import { Progress, storageOf } from "./progress";
import "../style/explorer.css";
import "./lesson.css";

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
  render(<Lesson course={course} progress={progress} link={link} />, place);
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
