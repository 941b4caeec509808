// Fails until package.json names where the package lives. npm resolves the relative links of the README through
// `repository`, and rejects a provenance if `repository` is not the repository that the release was built in.

import { readFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

const urls = {
  repository: manifest.repository?.url ?? manifest.repository,
  homepage: manifest.homepage,
  bugs: manifest.bugs?.url ?? manifest.bugs,
};
const missing = Object.keys(urls).filter((field) => !/^(git\+)?https:\/\/\S+$/.test(urls[field]));

if (missing.length > 0) {
  console.error(
    `package.json has no https URL in ${missing.join(', ')}. Run REPOSITORY_URL=https://<host>/<owner>/<name> npm run release:repository`,
  );
  process.exitCode = 1;
}
