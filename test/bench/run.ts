/**
 * Measures this package beside bare fetch and ky loops and the clients of other services, on a loopback server in a
 * process of its own. The clients alternate, each in fresh processes; the CPU time is that of the process itself.
 *
 *   npm run bench                      every part
 *   npm run bench -- lists cold        some of them: see `parts.ts`
 *   npm run bench -- --quick           only whether everything runs
 *   npm run bench -- --json            for machines
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type PartName, partNames, parts } from './parts.ts';
import type { Findings } from './support/part.ts';
import { tableText, type Verdict, verdicts, verdictTable } from './support/print.ts';

const folder = fileURLToPath(new URL('./', import.meta.url));
const root = fileURLToPath(new URL('../../', import.meta.url));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '3' },
  },
});
const unknown = positionals.filter((name) => !partNames.includes(name as PartName));
if (unknown.length > 0) throw new Error(`no part ${unknown.join(', ')}: there are ${partNames.join(', ')}`);
const wanted = positionals.length === 0 ? partNames : partNames.filter((name) => positionals.includes(name));
const effort = { rounds: values.quick ? 1 : Number(values.rounds), quick: values.quick };

/** Installs what the bench compares with, where that is not done, and builds the package beside it. */
function prepare(): void {
  const lock = `${folder}package-lock.json`;
  const installed = `${folder}node_modules/.bench-lock`;
  if (!existsSync(installed) || readFileSync(installed, 'utf8') !== readFileSync(lock, 'utf8')) {
    execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'], { cwd: folder });
    writeFileSync(installed, readFileSync(lock));
  }
  const tsup = `${root}node_modules/tsup/dist/cli-default.js`;
  execFileSync(process.execPath, [tsup, '--no-dts', '--silent', '--out-dir', `${folder}dist`], { cwd: root });
}

const say = (text: string) => {
  if (!values.json) console.log(text);
};

// This part compares with no other client, and runs from source.
if (wanted.some((name) => name !== 'rate-limiter')) prepare();
const found: Record<string, Findings & { readonly seconds: number }> = {};
for (const name of wanted) {
  const startedAt = performance.now();
  const findings = await parts[name](effort);
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  found[name] = { ...findings, seconds };
  say(`\n=== ${name} (${seconds} s)`);
  for (const table of findings.tables) say(`\n${tableText(table)}`);
}

const judged: Verdict[] = Object.values(found).flatMap(({ figures }) => verdicts(figures));
if (values.json)
  console.log(JSON.stringify({ node: process.version, parts: found, goals: judged }, undefined, 2));
else say(`\n${tableText(verdictTable(judged))}`);
if (!effort.quick && judged.some(({ met }) => !met)) process.exitCode = 1;
