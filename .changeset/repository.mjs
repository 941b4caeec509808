// Writes where the package lives into package.json: `repository`, `homepage` and `bugs`, from the address of the
// repository. That is REPOSITORY_URL, or where a GitHub workflow runs. The site takes its links from the same fields.

import { readFileSync, writeFileSync } from 'node:fs';

const { GITHUB_SERVER_URL, GITHUB_REPOSITORY, REPOSITORY_URL } = process.env;
const url = REPOSITORY_URL ?? (GITHUB_REPOSITORY && `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}`);

if (!url?.startsWith('https://')) {
  console.error('Set REPOSITORY_URL to the https address of the repository.');
  process.exit(1);
}
const file = new URL('../package.json', import.meta.url);
const manifest = JSON.parse(readFileSync(file, 'utf8'));
const places = {
  repository: { type: 'git', url: `git+${url}.git` },
  homepage: `${url}#readme`,
  bugs: { url: `${url}/issues` },
};
writeFileSync(file, `${JSON.stringify({ ...manifest, ...places }, null, 2)}\n`);
