import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

// The programs of the guides that run in the playground. The site has a link beside each of them.

const guides = fileURLToPath(new URL('../../', import.meta.url));

/** What a program of the playground can import. */
const IMPORTS = [
  'accounting-data-sdk',
  'accounting-data-sdk/explore',
  'accounting-data-sdk/node',
  'accounting-data-sdk/schemas',
  'accounting-data-sdk/targets',
  'accounting-data-sdk/testing',
  'node:assert/strict',
  'node:timers/promises',
  'zod',
];

/** Needs a database, a process or a service on the network. */
const NOT_HERE =
  /\b(?:postgresTarget|sandbox\.listen|connectorTests|faultyFetch|DATABASE_URL|process\.on(?:ce)?)\b/;

/** Whether a program runs in a page as it stands. */
export function canRun(code: string): boolean {
  const names = [...code.matchAll(/from '([^']+)'/g)].map(([, name = '']) => name);
  return names.length > 0 && names.every((name) => IMPORTS.includes(name)) && !NOT_HERE.test(code);
}

/** The address of a program in the playground: `reading-2` is the second program of the guide `reading`. */
export function snippetName(guide: string, index: number): string {
  return `${guide.replace(/\.md$/, '')}-${index + 1}`;
}

/** Each program of the guides that can run, by its name. */
export function snippets(): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const guide of globSync('*.md', { cwd: guides })) {
    const text = readFileSync(guides + guide, 'utf8');
    const programs = [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code).filter(canRun);
    for (const [index, code] of programs.entries()) found[snippetName(guide, index)] = code;
  }
  return found;
}

export const playgroundSnippets: Plugin = {
  name: 'playground-snippets',
  resolveId: (id) => (id === 'playground-snippets' ? '\0playground-snippets' : undefined),
  load: (id) =>
    id === '\0playground-snippets' ? `export default ${JSON.stringify(snippets())};` : undefined,
};
