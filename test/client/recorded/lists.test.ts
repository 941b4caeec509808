import { type ClientOptions, createClient } from 'accounting-data-sdk';
import { createSandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { SERVICES } from '../../support/services.ts';
import { runToEnd, startEvenClock, useVirtualClock } from '../../support/virtual-clock.ts';

useVirtualClock();

const SIZES = [0, 1, 5, 12];
const PAGINATIONS = ['keyset', 'page', 'link', 'none'] as const;

/** What a list does: its pages with their ids, what it ends with, what it warns of, and its requests. */
async function play(
  service: SandboxOptions,
  records: number,
  pagination: ClientOptions['pagination'],
): Promise<string[]> {
  startEvenClock();
  const sandbox = createSandbox({
    origin: 'https://service.example',
    clock: '2026-01-31T12:00:00Z',
    pageSize: 5,
    records: { accounts: records },
    ...service,
  });
  const lines: string[] = [];
  const client = createClient({
    ...sandbox.clientOptions,
    pagination,
    logger: {
      debug: () => {},
      info: () => {},
      warn: (first: unknown) => void lines.push(`warning: ${`${first}`.replace(/#\d+ /, '')}`),
    },
  });
  const read = async () => {
    for await (const page of client.accounts.list().pages()) {
      const { records, pagination: used, complete, evidence, repeated, restarted } = page;
      const ids = records.map(({ id }) => id).join(' ');
      const facts = `${evidence.facts.join(' ')}, longest ${evidence.longest}`;
      const more = `${repeated > 0 ? `, ${repeated} repeated` : ''}${restarted ? ', restarted' : ''}`;
      lines.push(`${ids} | by ${used}: ${complete} (${facts})${more}`);
    }
  };
  await runToEnd(read().catch((error: unknown) => void lines.push(String(error))));
  const sent = sandbox.requests.map(({ path, query, status }) => {
    const search = Object.entries(query).map(([name, value]) => `${name}=${value}`);
    return `${path.slice(15)}?${search.join('&')} ${status ?? '-'}`;
  });
  return [...lines, ...sent];
}

// After the first service only what differs from the same list there.
test('lists of each service are read as recorded', async () => {
  const usual = new Map<string, string>();
  const text: string[] = [];
  for (const [name, service] of Object.entries(SERVICES)) {
    text.push('', `# ${name}: ${JSON.stringify(service)}`);
    for (const size of SIZES)
      for (const pagination of PAGINATIONS) {
        const title = `${size} records by ${pagination}`;
        const lines = (await play(service, size, pagination)).map((line) => `  ${line}`).join('\n');
        if (usual.get(title) === lines) continue;
        text.push(title, lines);
        if (service === Object.values(SERVICES)[0]) usual.set(title, lines);
      }
  }
  await expect(`${text.slice(1).join('\n')}\n`).toMatchFileSnapshot('./lists.txt');
});
