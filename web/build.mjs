// Builds the page's one script and one style sheet into the Python package: node build.mjs
import { build } from "esbuild";
import { copyFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const bundle = join(here, "..", "src", "retrograd", "explorer", "bundle");
await build({
  absWorkingDir: here,
  entryPoints: { explorer: "src/main.tsx", live: "src/live/main.tsx", lesson: "src/lesson/main.tsx" },
  outdir: bundle,
  bundle: true,
  minify: !process.argv.includes("--readable"),
  format: "esm",
  // Nested rules and light-dark() as they are: every browser of 2024 knows them.
  target: "esnext",
  charset: "ascii",
  legalComments: "inline",
  jsx: "automatic",
  jsxImportSource: "preact",
  logLevel: "warning",
});
// What is bundled comes with its licence.
await copyFile(join(here, "node_modules", "preact", "LICENSE"), join(bundle, "preact.LICENSE"));
