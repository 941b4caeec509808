// The packed package on every runtime: the same scenario against the same books, and a table at the end.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { documentedCurl, plainFetch } from './extras.ts';
import { chromiumHost } from './hosts/chromium.ts';
import type { Host } from './hosts/host.ts';
import { processHosts } from './hosts/process.ts';
import { workerdHost } from './hosts/workerd.ts';
import { createProject } from './project.ts';
import { type Extra, passed, type Row, table } from './rows.ts';
import type { Outcome } from './scenario/outcome.ts';

const USAGE = `Tries the packed package on every runtime.

  --only node-24,bun    only these: node-20 node-22 node-24 node-26 bun deno workerd chromium
  --without-chromium    leaves the browser out, where none is to be had
`;

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    'without-chromium': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

function chosen(hosts: readonly Host[]): readonly Host[] {
  const browsing = hosts.filter(({ name }) => !(options['without-chromium'] && name === 'chromium'));
  if (options.only === undefined) return browsing;
  const names = options.only.split(',');
  const unknown = names.filter((name) => !browsing.some((host) => host.name === name));
  if (unknown.length > 0) throw new Error(`Not among the runtimes: ${unknown.join(', ')}\n\n${USAGE}`);
  return browsing.filter(({ name }) => names.includes(name));
}

async function tryOut(host: Host, orders: string): Promise<Row> {
  const outcomes: Outcome[] = [];
  const row = { runtime: host.name, informative: host.informative ?? false, outcomes };
  let version = '';
  try {
    version = await host.version();
    console.log(`\n${host.name} ${version}`);
    await host.run({
      orders,
      onOutcome: (outcome) => {
        outcomes.push(outcome);
        console.log(`  ${outcome.ok ? 'ok' : 'FAIL'} ${outcome.step}: ${outcome.note}`);
      },
    });
    return { ...row, version };
  } catch (error) {
    return { ...row, version, problem: error instanceof Error ? error.message : String(error) };
  }
}

async function main(): Promise<boolean> {
  console.log('Building, packing and installing the package');
  await using project = await createProject();
  const hosts = chosen([...processHosts(project), workerdHost(project), chromiumHost(project)]);

  const books = fork(project.books, { execArgv: [] });
  const [orders] = (await once(books, 'message')) as [string];
  try {
    const rows: Row[] = [];
    for (const host of hosts) rows.push(await tryOut(host, orders));
    const extras: Extra[] = [await documentedCurl(orders)];
    if (hosts.some(({ name }) => name === 'chromium')) extras.push(await plainFetch(orders));
    console.log(`\n${table(rows, extras)}`);
    return rows.every((row) => row.informative || passed(row)) && extras.every(({ ok }) => ok);
  } finally {
    books.disconnect();
  }
}

if (options.help) console.log(USAGE);
else process.exitCode = (await main()) ? 0 : 1;
