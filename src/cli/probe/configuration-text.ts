import type { ConfigurationLine } from '../../tools/probe/report.ts';

/** What follows for the options, as a file of TypeScript: each option with its reason above it. */
export function configurationLines(lines: readonly ConfigurationLine[], advice: readonly string[]): string[] {
  const of = (whose: ConfigurationLine['of']) => lines.filter((line) => line.of === whose);
  const members = (whose: ConfigurationLine['of']) =>
    of(whose).flatMap(({ code, reason }) => [`  // ${reason}`, `  ${code},`]);
  const listLines = of('list').flatMap(({ code, reason }) => ['', `// ${reason}:`, `// ${code}`]);
  return [
    "import { createClient } from 'accounting-data-sdk';",
    '',
    'export const client = createClient({',
    ...members('createClient'),
    '});',
    '',
    '/** For sync(client, { ...syncOptions, store, tenant, onBatch }). */',
    'export const syncOptions = {',
    ...members('sync'),
    '};',
    ...listLines,
    ...advice.flatMap((sentence) => ['', `// ${sentence}`]),
  ];
}
