// Writes what the pending changesets say into CHANGELOG.md, under Unreleased, and the version of package.json into
// the file that the client tells it from.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { asList } from './changelog.mjs';

const root = new URL('../', import.meta.url);
const read = (path) => readFileSync(new URL(path, root), 'utf8');
const write = (path, text) => writeFileSync(new URL(path, root), text);

const summaries = readdirSync(new URL('.changeset/', root))
  .filter((name) => name.endsWith('.md') && name !== 'README.md')
  .sort()
  .map((name) => asList(read(`.changeset/${name}`).replace(/^---\n.*?^---\n/ms, '')));
const [title, ...sections] = read('CHANGELOG.md').split(/^(?=## )/m);
const released = sections.filter((section) => !section.startsWith('## Unreleased'));
const unreleased = summaries.length === 0 ? [] : [`## Unreleased\n\n${summaries.join('\n')}`];
const texts = [title, ...unreleased, ...released].map((text) => text.trim());
write('CHANGELOG.md', `${texts.join('\n\n')}\n`);

const { version } = JSON.parse(read('package.json'));
write(
  'src/internal/version.ts',
  read('src/internal/version.ts').replace(/VERSION = '[^']*'/, `VERSION = '${version}'`),
);
