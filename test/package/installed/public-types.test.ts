import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';

const { project } = inject('installed');
const dist = join(project, 'node_modules/accounting-data-sdk/dist');

/** The statements of a file of declarations, without comments. */
function statementsOf(file: string): string[] {
  const text = readFileSync(join(dist, file), 'utf8').replaceAll(/^ *\/\*\*.*?\*\/\n/gms, '');
  return text.split(/^(?=(?:declare|interface|type|export|import|abstract) )/m).map((each) => each.trim());
}

const isExport = (statement: string) => /^export (?:type )?\{/.test(statement);

/** The names that an entry exports, and after them every declaration that they use, wherever the build has put it. */
function publicTypes(): string {
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.d.ts'),
  );
  // A part that several entries share has a hash in its name.
  const entries = files.filter((file) => !/-[\w-]{8}\.d\.ts$/.test(file));
  const exported = entries.map((file) => {
    const lists = statementsOf(file).filter(isExport).join(' ');
    const names = [...lists.matchAll(/(?:type )?(?:\w+ as )?(\w+)(?=,| \})/g)].map(([, name]) => name);
    return `// ${file.replace('.d.ts', '')}\n${names.toSorted().join('\n')}`;
  });
  const declared = files
    .flatMap(statementsOf)
    .filter((statement) => statement !== '' && !/^(?:import|export) /.test(statement));
  return `${[...exported, ...new Set(declared.toSorted())].join('\n\n')}\n`;
}

test('the public types are those of public-types.txt: update it with `npm run test:package -- -u`', async () => {
  const types = publicTypes();
  expect(types).toContain('declare function createClient');
  await expect(types).toMatchFileSnapshot('public-types.txt');
});
