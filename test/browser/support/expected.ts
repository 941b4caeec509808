// Runs programs in Node, each against a sandbox with the settings of the playground, and prints what they print, as JSON:
// `node --import … expected.ts <file with programs as JSON>`.

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createSandbox } from 'accounting-data-sdk/testing';
import { printed } from '../../../src/guides/.vitepress/playground/inspect.ts';
import { FAULTS, type Settings, sandboxOptions } from '../../../src/guides/.vitepress/playground/settings.ts';

interface Program {
  readonly name: string;
  readonly code: string;
  readonly settings: Settings;
}

const [, , file = ''] = process.argv;
const programs = JSON.parse(readFileSync(file, 'utf8')) as readonly Program[];
const results: Record<string, readonly string[]> = {};
const log = console.log;
const repository = process.cwd();

for (const { name, code, settings } of programs) {
  const sandbox = createSandbox(sandboxOptions(settings));
  if (settings.responseMs > 0) sandbox.faults.add({ kind: 'delay', ms: settings.responseMs });
  const rule = FAULTS[settings.fault];
  if (rule !== undefined) {
    const { fault, ...conditions } = rule;
    sandbox.faults.add(fault, conditions);
  }
  await sandbox.listen();
  process.env.ACCOUNTING_BASE_URL = sandbox.baseUrl;
  process.env.ACCOUNTING_API_KEY = sandbox.keys.full;
  const lines: string[] = [];
  for (const level of ['log', 'info', 'warn', 'error'] as const)
    console[level] = (...values: unknown[]) => void lines.push(printed(values));
  // The package is found from the repository; what a program writes is not left there.
  const path = join(repository, '.generated', `${name}.ts`);
  writeFileSync(path, `${code}\nexport {};\n`);
  process.chdir(mkdtempSync(join(tmpdir(), 'playground-')));
  await import(pathToFileURL(path).href);
  results[name] = lines;
  await sandbox.close();
}
log(JSON.stringify(results));
process.exit();
