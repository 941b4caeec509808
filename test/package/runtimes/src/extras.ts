import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inPage } from './hosts/chromium.ts';
import { root } from './project.ts';
import type { Extra } from './rows.ts';
import { Books } from './scenario/books.ts';
import { check, equal } from './scenario/expect.ts';

const exec = promisify(execFile);

/** What a page of a browser sees that calls the sandbox by itself: the answer, and the headers that it may read. */
export function plainFetch(orders: string): Promise<Extra> {
  return tell('fetch in a page', async () => {
    const books = await Books.open(orders, { records: { accounts: 3 } });
    const seen = await inPage(undefined, (page) =>
      page.evaluate(async ({ baseUrl, apiKey }) => {
        const url = `${baseUrl}/api/public/v1/`;
        const headers = { 'X-AUTH-TOKEN': apiKey };
        const list = await fetch(`${url}accounts`, { headers });
        const made = await fetch(`${url}products`, {
          method: 'POST',
          headers: { ...headers, 'Idempotency-Key': 'one', 'Content-Type': 'application/json' },
          body: JSON.stringify({ name: 'Desk' }),
        });
        const refused = await fetch(`${url}accounts`);
        return {
          accounts: ((await list.json()) as unknown[]).length,
          readable: ['x-ratelimit-limit', 'x-ratelimit-remaining', 'date'].filter((name) =>
            list.headers.has(name),
          ),
          statuses: [list.status, made.status, refused.status],
        };
      }, books.clientOptions),
    );
    equal(
      seen,
      {
        accounts: 3,
        readable: ['x-ratelimit-limit', 'x-ratelimit-remaining', 'date'],
        statuses: [200, 201, 401],
      },
      'what the page saw',
    );
    equal((await books.look()).products.length, 1, 'the number of products');
    await books.close();
    return 'reads, creates, and sees budget and date';
  });
}

/** The line of the README, as it stands, in a shell. */
export function documentedCurl(orders: string): Promise<Extra> {
  return tell("curl, by the README's line", async () => {
    const readme = await readFile(join(root, 'README.md'), 'utf8');
    const [line] = /^curl .*\/api\/public\/v1\/.*$/m.exec(readme) ?? [];
    check(line !== undefined, 'a line in README.md that begins with curl');
    const books = await Books.open(orders, { records: { accounts: 110 } });
    const { stdout } = await exec('sh', ['-c', `${line} --silent --show-error`], {
      env: { PATH: process.env.PATH, ACCOUNTING_BASE_URL: books.baseUrl, ACCOUNTING_API_KEY: books.apiKey },
    });
    const ids = (JSON.parse(stdout) as { id: string }[]).map(({ id }) => id);
    equal(ids, (await books.look()).accounts.slice(100), 'the accounts after number 100');
    await books.close();
    return `${ids.length} accounts`;
  });
}

async function tell(what: string, work: () => Promise<string>): Promise<Extra> {
  try {
    return { what, ok: true, note: await work() };
  } catch (error) {
    return { what, ok: false, note: error instanceof Error ? error.message : String(error) };
  }
}
